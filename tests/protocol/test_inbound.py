"""What an editor sends: strict where a wrong value would be acted on, tolerant elsewhere."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hermes_acp.protocol.errors import from_validation
from hermes_acp.protocol.inbound import (
    AuthenticateParams,
    EmptyParams,
    ForkSessionParams,
    InitializeParams,
    ListSessionsParams,
    LoadSessionParams,
    NewSessionParams,
    Params,
    PromptParams,
    ResumeSessionParams,
    SessionParams,
    SetConfigOptionParams,
    SetModeParams,
)
from hermes_acp.protocol.mcp import RemoteServer, StdioServer

EXAMPLES: dict[type[Params], dict[str, Any]] = {
    InitializeParams: {"protocolVersion": 1},
    AuthenticateParams: {"methodId": "m"},
    EmptyParams: {},
    NewSessionParams: {"cwd": "/work", "mcpServers": []},
    LoadSessionParams: {"sessionId": "s", "cwd": "/work", "mcpServers": []},
    ResumeSessionParams: {"sessionId": "s", "cwd": "/work"},
    ForkSessionParams: {"sessionId": "s", "cwd": "/work"},
    ListSessionsParams: {},
    SessionParams: {"sessionId": "s"},
    PromptParams: {"sessionId": "s", "prompt": [{"type": "text", "text": "hello"}]},
    SetModeParams: {"sessionId": "s", "modeId": "ask"},
    SetConfigOptionParams: {"sessionId": "s", "configId": "mode", "value": "ask"},
}
everyone = pytest.mark.parametrize("params", EXAMPLES)


def refusal(params: type[Params], data: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        params.model_validate(data)
    return from_validation(caught.value).message


def block_refusal(*blocks: Any) -> str:
    return refusal(PromptParams, {"sessionId": "s", "prompt": list(blocks)})


@everyone
def test_the_least_that_the_protocol_asks_for_is_enough(params: type[Params]) -> None:
    params.model_validate(EXAMPLES[params])


@everyone
def test_unknown_fields_and_any_meta_are_kept_and_mean_nothing(params: type[Params]) -> None:
    meta = {"sessionId": "from meta", "cwd": "/meta"}
    found = params.model_validate({**EXAMPLES[params], "_meta": meta, "newField": {"a": [1]}, "model_dump": 1})
    assert found.meta == meta
    assert found.model_extra == {"newField": {"a": [1]}, "model_dump": 1}
    assert getattr(found, "session_id", "s") == "s"


@everyone
@pytest.mark.parametrize("meta", [None, 5, "x", [], {"a": 1}])
def test_a_malformed_meta_is_no_fault(params: type[Params], meta: Any) -> None:
    params.model_validate({**EXAMPLES[params], "_meta": meta})


@everyone
@settings(max_examples=10)
@given(data=st.data())
def test_each_field_is_required_and_named_when_it_is_wrong(params: type[Params], data: st.DataObject) -> None:
    for name in EXAMPLES[params]:
        if name == "mcpServers":
            continue
        absent = {key: value for key, value in EXAMPLES[params].items() if key != name}
        assert f"{name}: " in refusal(params, absent)
        wrong = data.draw(st.sampled_from([None, 1.5, [[]], {}]))
        assert f"{name}" in refusal(params, {**EXAMPLES[params], name: wrong})


@pytest.mark.parametrize("cwd", ["", ".", "relative", "~/x", "file:///x", "C:\\x", "/a\0b", None, 5])
def test_a_folder_must_be_an_absolute_path(cwd: Any) -> None:
    assert refusal(NewSessionParams, {"cwd": cwd, "mcpServers": []}).startswith("Invalid params: cwd: ")


def test_the_filter_of_a_list_must_be_absolute_too_and_may_be_null() -> None:
    assert "cwd: " in refusal(ListSessionsParams, {"cwd": "relative"})
    assert ListSessionsParams.model_validate({"cwd": None, "cursor": None}).cwd is None


@pytest.mark.parametrize("roots", ["/a", ["/a", "b"], [5], [None], {"0": "/a"}, 7])
def test_one_malformed_root_refuses_all(roots: Any) -> None:
    message = refusal(NewSessionParams, {"cwd": "/work", "additionalDirectories": roots})
    assert "additionalDirectories" in message


def test_null_is_no_roots_and_no_servers() -> None:
    found = NewSessionParams.model_validate({"cwd": "/work", "additionalDirectories": None, "mcpServers": None})
    assert (found.place().cwd, found.place().roots, found.mcp_servers) == (Path("/work"), (), [])


def test_the_place_of_a_session_keeps_the_order_of_its_roots() -> None:
    found = NewSessionParams.model_validate({"cwd": "/work", "additionalDirectories": ["/b", "/a"]})
    assert found.place().roots == (Path("/b"), Path("/a"))


def test_servers_of_all_kinds_are_read() -> None:
    servers = [
        {"name": "one", "command": "/bin/x", "args": None, "env": [{"name": "A", "value": "b"}]},
        {"name": "two", "type": "http", "url": "https://x", "headers": [{"name": "H", "value": "v"}]},
        {"name": "three", "type": "sse", "url": "https://y", "headers": None},
    ]
    one, two, three = NewSessionParams.model_validate({"cwd": "/work", "mcpServers": servers}).mcp_servers
    assert isinstance(one, StdioServer)
    assert (one.args, one.env[0].name, one.env[0].value) == ([], "A", "b")
    assert isinstance(two, RemoteServer)
    assert (two.type, two.headers[0].value) == ("http", "v")
    assert isinstance(three, RemoteServer)
    assert three.headers == []


@pytest.mark.parametrize("server", [{"type": "acp", "name": "x"}, {"type": 5}, 5, None, {"name": "x"}])
def test_a_server_of_another_kind_is_refused(server: Any) -> None:
    assert "mcpServers" in refusal(NewSessionParams, {"cwd": "/work", "mcpServers": [server]})


BLOCKS = [
    {"type": "text", "text": "hello", "annotations": "malformed"},
    {"type": "image", "data": "aGk=", "mimeType": "image/png", "uri": 5},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource_link", "name": "a", "uri": "file:///a", "size": "big", "title": None, "description": 7},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "", "mimeType": None}},
    {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}},
    {"type": "hologram", "depth": {"a": 3}},
]


def test_blocks_are_read_by_their_type_and_unknown_ones_keep_every_member() -> None:
    blocks = PromptParams.model_validate({"sessionId": "s", "prompt": BLOCKS}).prompt
    kinds = ["TextBlock", "ImageBlock", "AudioBlock", "ResourceLinkBlock", "ResourceBlock", "ResourceBlock"]
    assert [type(block).__name__ for block in blocks] == [*kinds, "UnknownBlock"]
    assert blocks[6].model_dump()["depth"] == {"a": 3}


@pytest.mark.parametrize(
    ("block", "place"),
    [
        ({"type": "text"}, "prompt.0.text.text: field required"),
        ({"type": "text", "text": 5}, "prompt.0.text.text"),
        ({"type": "image", "data": "x"}, "prompt.0.image.mimeType"),
        ({"type": "resource_link", "uri": "file:///a"}, "prompt.0.resource_link.name"),
        ({"type": "resource"}, "prompt.0.resource.resource"),
        ({"type": "resource", "resource": {"uri": "a"}}, "a resource needs a text or a blob"),
        ({"type": "resource", "resource": {"uri": "a", "text": 5}}, "prompt.0.resource.resource.text.text"),
        ({"text": "no type"}, "prompt.0: a content block must be an object with a type"),
        ({"type": 5}, "prompt.0: "),
        ("text", "prompt.0: "),
        (None, "prompt.0: "),
    ],
)
def test_a_malformed_block_is_refused_by_its_place(block: Any, place: str) -> None:
    assert place in block_refusal(block)


def test_an_option_takes_an_id_or_a_boolean_and_nothing_else() -> None:
    for value in ("ask", "", True, False):
        found = SetConfigOptionParams.model_validate({"sessionId": "s", "configId": "c", "value": value})
        assert found.value is value
    for value in (None, 1, [], {}):
        assert "value: " in refusal(SetConfigOptionParams, {"sessionId": "s", "configId": "c", "value": value})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
)
fields = st.sampled_from(
    ["sessionId", "cwd", "prompt", "mcpServers", "value", "_meta", "cursor", "additionalDirectories"]
)


@everyone
@settings(max_examples=25)
@given(data=st.dictionaries(fields | st.text(max_size=5), json_values))
def test_any_params_are_read_or_refused(params: type[Params], data: dict[str, Any]) -> None:
    with suppress(ValidationError):
        json.dumps(params.model_validate(data).model_dump(by_alias=True))

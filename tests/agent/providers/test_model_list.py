"""The list of models of an endpoint: those for conversations, however it is told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.providers.model_list import MAX_MODELS, ListedModel, read_models
from hermes_acp.errors import ProviderError
from tests.fakes.model_server import Status


def read(value):
    return read_models(json.dumps(value).encode(), "fake")


def names(value):
    return [model.name for model in read(value)]


def test_names_come_in_order_and_once():
    assert names({"object": "list", "data": [{"id": "b"}, {"id": "A"}, {"id": "b"}]}) == ["A", "b"]
    assert names([{"id": "a"}]) == ["a"]
    assert names({"models": [{"name": "a"}]}) == ["a"]


def test_models_for_other_things_are_left_out():
    others = [
        "text-embedding-3-small",
        "whisper-1",
        "tts-1-hd",
        "dall-e-3",
        "gpt-image-1",
        "omni-moderation-latest",
        "gpt-4o-realtime-preview",
        "gpt-audio",
        "sora-2",
        "bge-reranker",
        "llama-guard-3",
        "davinci-002",
    ]
    answering = ["gpt-5.5", "claude-x", "qwen3-coder:30b", "deepseek/deepseek-chat", "tts/chat"[4:], "imagine-7b"]
    assert sorted(names({"data": [{"id": name} for name in others + answering]})) == sorted(answering)
    told = [{"id": "a", "type": "embeddings"}, {"id": "b", "supported_parameters": ["temperature"]}]
    assert names({"data": [*told, {"id": "c", "supported_parameters": ["tools"]}]}) == ["c"]


def test_of_too_many_the_newest_are_kept():
    data = [{"id": f"m{number:04}", "created": number} for number in range(1000)]
    assert names({"data": data}) == [f"m{number:04}" for number in range(1000 - MAX_MODELS, 1000)]


@pytest.mark.parametrize(
    ("entry", "model"),
    [
        ({"context_length": 8192, "architecture": {"input_modalities": ["text", "image"]}}, (8192, True)),
        ({"context_length": 8192, "architecture": {"input_modalities": ["text"]}}, (8192, False)),
        ({"max_model_len": 4096}, (4096, None)),
        ({"context_window": 131072}, (131072, None)),
        ({"type": "vlm", "loaded_context_length": 10, "max_context_length": 20}, (10, True)),
        ({"type": "llm", "max_context_length": 20}, (20, False)),
        ({"context_length": "many", "architecture": 5}, (0, None)),
        ({"context_length": -1}, (0, None)),
    ],
)
def test_window_and_sight_are_taken_where_they_are_told(entry, model):
    assert read({"data": [{"id": "m", **entry}]}) == (ListedModel("m", *model),)


@pytest.mark.parametrize(
    ("entry", "reasons"),
    [
        ({"supported_parameters": ["tools", "reasoning", "include_reasoning"]}, True),
        ({"supported_parameters": ["tools"]}, False),
        ({"capabilities": {"thinking": {"supported": True}}}, True),
        ({"capabilities": {"thinking": {"supported": False}}}, False),
        ({"capabilities": {"thinking": 5}}, None),
        ({"capabilities": ["thinking"]}, None),
        ({}, None),
    ],
)
def test_whether_it_can_be_told_how_much_to_think_is_taken_where_it_is_told(entry, reasons):
    assert [model.reasons for model in read({"data": [{"id": "m", **entry}]})] == [reasons]


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'{"data": 5}', b"[" * 100_000, b"\xff"])
def test_what_is_no_list_is_an_error(body):
    with pytest.raises(ProviderError):
        read_models(body, "fake")


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "created", "type"]), inner),
    max_leaves=8,
)


@given(
    st.lists(values | st.fixed_dictionaries({"id": values, "created": values, "context_length": values}), max_size=8)
)
def test_whatever_stands_in_the_list_gives_names_that_can_be_shown(entries):
    for model in read({"data": entries}):
        assert model.name
        assert model.name.isprintable()
        assert model.window >= 0


async def test_the_endpoint_is_asked_with_the_key(server, connect):
    server.models = ("b", "a")
    assert [model.name for model in await connect(api_key="sk-x").models()] == ["a", "b"]


@pytest.mark.parametrize("status", [401, 404, 500])
async def test_an_endpoint_without_a_list_is_an_error(server, provider, status):
    server.list_answer = Status(status)
    with pytest.raises(ProviderError):
        await provider.models()
    assert server.listed == 1


async def test_an_endpoint_that_takes_its_time_is_not_waited_for(server, provider, monkeypatch):
    monkeypatch.setattr("hermes_acp.agent.providers.remote_model.LIST_SECONDS", 0.2)
    server.list_answer = Status(200, first_delay=30)
    with pytest.raises(ProviderError):
        await provider.models()

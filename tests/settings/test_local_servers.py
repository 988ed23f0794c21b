"""Model servers on this machine: found by what they tell, in time, and never by guess."""

import time

import pytest

from hermes_acp.errors import ConfigError
from hermes_acp.settings import local_servers
from hermes_acp.settings.local_servers import LocalModel, LocalServer, look, places
from hermes_acp.settings.loopback import ask
from tests.fakes.local_server import LocalServer as Fake
from tests.fakes.local_server import llamacpp, lmstudio, ollama, vllm


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A loaded machine may be slower than an agent waits for."""
    monkeypatch.setattr(local_servers, "SECONDS", 30)


async def model_of(provider, answers, **fields):
    """The model that is found behind these answers; "none" when no server is recognised."""
    async with Fake(answers, **fields) as server:
        found = await look([LocalServer(provider, f"{server.url}/v1")])
    return found[0].model if found else "none"


async def test_ollama_tells_which_models_use_tools_and_see():
    answers = ollama({"embedder": ["embedding"], "talker": ["completion"], "worker": ["completion", "tools", "vision"]})
    assert await model_of("ollama", answers) == LocalModel("worker", sees_images=True)
    answers = ollama({"first": ["tools"], "second": ["tools"]}, running=("second",))
    assert await model_of("ollama", answers) == LocalModel("second", sees_images=False)
    assert await model_of("ollama", ollama({"talker": ["completion"]})) is None
    assert await model_of("ollama", ollama({})) is None


async def test_an_older_ollama_tells_it_by_its_template():
    answers = ollama({"a": {"template": "{{ .Prompt }}"}, "b": {"template": "{{ if .Tools }}\n{{ end }}"}})
    assert (await model_of("ollama", answers)).name == "b"


async def test_models_that_ollama_asks_another_machine_for_are_not_used():
    answers = ollama({"glm:cloud": ["tools"], "far": ["tools"], "near": ["tools"]})
    answers["/api/tags"]["models"][1]["remote_host"] = "https://ollama.com:443"
    assert (await model_of("ollama", answers)).name == "near"


async def test_lm_studio_tells_which_models_use_tools_and_what_is_loaded():
    able = {"type": "llm", "capabilities": ["tool_use"], "state": "not-loaded"}
    answers = lmstudio(
        {"id": "embed", "type": "embeddings", "state": "loaded"},
        {"id": "talker", "type": "llm", "state": "loaded"},
        {"id": "asleep", **able},
        {"id": "awake", **able, "type": "vlm", "state": "loaded", "loaded_context_length": 4096},
    )
    assert await model_of("lmstudio", answers) == LocalModel("awake", 4096, sees_images=True)
    assert (await model_of("lmstudio", lmstudio({"id": "asleep", **able}))).name == "asleep"
    assert await model_of("lmstudio", lmstudio({"id": "talker", "type": "llm"})) is None


@pytest.mark.parametrize(
    ("props", "able"),
    [
        ({"chat_template_caps": {"supports_tools": True}}, True),
        ({"chat_template_caps": {"supports_tools": False}, "chat_template": "{% if tools %}"}, False),
        ({"chat_template": "{% if tools %}"}, True),
        ({}, False),
    ],
)
async def test_llama_cpp_tells_it_by_its_template(props, able):
    expected = LocalModel("qwen.gguf", 8192, sees_images=False) if able else None
    assert await model_of("llamacpp", llamacpp(**props)) == expected
    seeing = await model_of("llamacpp", llamacpp(chat_template="tools", modalities={"vision": True}))
    assert seeing.sees_images


async def test_of_vllm_it_is_assumed_and_said():
    assert await model_of("vllm", vllm("served")) == LocalModel("served", 4096, assumed=True)
    assert await model_of("vllm", vllm()) is None


@pytest.mark.parametrize("provider", ["ollama", "lmstudio", "llamacpp", "vllm"])
@pytest.mark.parametrize(
    "answer",
    [None, b"HTTP/1.1 200 OK\r\n\r\n<html>", b"\xff\xff\r\n\r\n", [1, "x", None], b""],
    ids=["other paths", "a web page", "no HTTP", "another JSON", "a hang-up"],
)
async def test_another_program_at_the_port_is_not_taken_for_one(provider, answer):
    paths = ("/api/tags", "/api/ps", "/api/v0/models", "/props", "/v1/models")
    assert await model_of(provider, dict.fromkeys(paths, answer)) == "none"


@pytest.mark.parametrize("value", [None, 5, "x", [], [None], [{}], [{"id": 5, "name": []}], {"a": 1}])
async def test_whatever_stands_in_the_lists_nothing_breaks(value):
    for provider, answers in (
        (
            "ollama",
            {"/api/tags": {"models": value}, "/api/ps": {"models": value}, "/api/show": {"capabilities": value}},
        ),
        ("lmstudio", {"/api/v0/models": {"data": value}}),
        ("llamacpp", {"/props": {"chat_template": value, "modalities": value}, "/v1/models": {"data": value}}),
        ("vllm", {"/v1/models": {"data": value}}),
    ):
        assert await model_of(provider, answers) is None
    names = [{"name": "two\nlines"}, {"name": "fine"}]
    answers = {"/api/tags": {"models": names}, "/api/show": {"capabilities": ["tools"]}}
    assert (await model_of("ollama", answers)).name == "fine"


async def test_the_look_is_parallel_and_ends_in_time_with_what_has_answered(monkeypatch):
    monkeypatch.setattr(local_servers, "SECONDS", 2)
    async with Fake(ollama({"m": ["tools"]}), delay=30) as silent, Fake(vllm("m"), delay=0.1) as slow:
        before = time.monotonic()
        found = await look([LocalServer("ollama", f"{silent.url}/v1"), LocalServer("vllm", f"{slow.url}/v1")])
        assert 2 <= time.monotonic() - before < 20
    assert [each.server.provider for each in found] == ["vllm"]


async def test_the_order_is_that_of_the_places_not_of_the_answers():
    async with Fake(ollama({"m": ["tools"]}), delay=0.05) as first, Fake(vllm("m")) as second:
        found = await look([LocalServer("ollama", first.url), LocalServer("vllm", second.url)])
    assert [each.server.provider for each in found] == ["ollama", "vllm"]


async def test_a_closed_port_costs_no_time():
    async with Fake({}) as gone:
        url = gone.url
    before = time.monotonic()
    assert await look([LocalServer(name, f"{url}/v1") for name in ("ollama", "lmstudio", "llamacpp", "vllm")]) == ()
    assert time.monotonic() - before < 5


async def test_answers_in_chunks_are_read():
    assert (await model_of("vllm", vllm("served"), chunked=True)).name == "served"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
        b"HTTP/1.1 500 Oh\r\n\r\n{}",
        b"HTTP/1.1\r\n\r\n{}",
        b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000,
        b"x" * 5_000_000,
    ],
)
async def test_a_broken_answer_is_none(answer):
    async with Fake({"/x": answer}) as server:
        assert await ask(f"{server.url}/x") is None


def test_the_places_are_the_known_ones_unless_others_are_named():
    assert [place.base_url for place in places({})] == [
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:1234/v1",
        "http://127.0.0.1:8080/v1",
        "http://127.0.0.1:8000/v1",
    ]
    named = {"HERMES_ACP_LOCAL_SERVERS": "vllm=http://localhost:9/v1, ollama=http://127.0.0.1:5/"}
    assert places(named) == (
        LocalServer("vllm", "http://localhost:9/v1"),
        LocalServer("ollama", "http://127.0.0.1:5/v1"),
    )
    assert places({"HERMES_ACP_LOCAL_SERVERS": "OFF"}) == ()


@pytest.mark.parametrize(
    "text", ["on", "vllm", "other=http://127.0.0.1:1", "vllm=http://example.com", "vllm=https://127.0.0.1:1", "vllm=x"]
)
def test_a_place_elsewhere_is_refused(text):
    with pytest.raises(ConfigError, match="HERMES_ACP_LOCAL_SERVERS"):
        places({"HERMES_ACP_LOCAL_SERVERS": text})

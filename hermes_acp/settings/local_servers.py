"""Model servers on this machine: where they are looked for, and what each tells of its models."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from hermes_acp.errors import ConfigError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.settings.endpoint import ModelEndpoint
from hermes_acp.settings.loopback import ask, is_loopback
from hermes_acp.settings.providers import PROVIDERS

SECONDS = 0.3
"""What the whole look may take."""

VARIABLE = "HERMES_ACP_LOCAL_SERVERS"
"""Other places to look at: `NAME=ADDRESS`, separated by commas; or `off`."""

MAX_SHOWN = 12
"""Of so many models a server is asked the details."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A kind of server, by the name of its provider, and the base URL of its API."""

    provider: str
    base_url: str

    @property
    def root(self) -> str:
        """The address without the part that all such APIs share."""
        return self.base_url.removesuffix("/v1")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that can use tools; `assumed`: the server does not tell that. `window` is 0 when not told."""

    name: str
    window: int = 0
    sees_images: bool = True
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answered, and the model to use there; None when none of its models can use tools."""

    server: LocalServer
    model: LocalModel | None

    @property
    def label(self) -> str:
        """Its name for a person, such as "Ollama on this machine"."""
        return PROVIDERS[self.server.provider].label

    @property
    def endpoint(self) -> ModelEndpoint | None:
        """Where its model is asked."""
        model = self.model
        if model is None:
            return None
        return ModelEndpoint(
            self.server.provider,
            model.name,
            self.server.base_url,
            api_mode="chat_completions",
            context_window=model.window,
            sees_images=model.sees_images,
        )


def places(environ: Mapping[str, str]) -> tuple[LocalServer, ...]:
    """Where to look, in order of preference.

    Raises:
        ConfigError: the variable for it is of no use.
    """
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return tuple(LocalServer(name, PROVIDERS[name].base_url) for name in _LOOK)
    if text.lower() == "off":
        return ()
    return tuple(_place(entry.strip()) for entry in text.split(","))


async def look(servers: Sequence[LocalServer]) -> tuple[FoundServer, ...]:
    """The servers that answer, in the given order. Takes `SECONDS` at most."""
    if not servers:
        return ()
    tasks = [asyncio.ensure_future(_find(server)) for server in servers]
    try:
        await asyncio.wait(tasks, timeout=SECONDS)
        return tuple(found for task in tasks if task.done() and (found := task.result()))
    finally:
        for task in tasks:
            task.cancel()


async def _find(server: LocalServer) -> FoundServer | None:
    models = await _LOOK[server.provider](server.root)
    return None if models is None else FoundServer(server, next(iter(models), None))


def _place(entry: str) -> LocalServer:
    name, _, address = entry.partition("=")
    if name not in _LOOK or not is_loopback(address):
        names = ", ".join(_LOOK)
        raise ConfigError(f"{VARIABLE}: must be off, or NAME=ADDRESS on this machine (names: {names})")
    return LocalServer(name, address.rstrip("/").removesuffix("/v1") + "/v1")


async def _ollama(root: str) -> list[LocalModel] | None:
    """Models of this machine, running ones first. Those that Ollama asks another machine for are not local."""
    listed, running = await asyncio.gather(ask(f"{root}/api/tags"), ask(f"{root}/api/ps"))
    if not isinstance(listed, Mapping):
        return None
    loaded = {_name(entry) for entry in _entries(running, "models")}
    local = (_name(entry) for entry in _entries(listed, "models") if not _is_remote(entry))
    names = sorted(filter(None, local), key=lambda name: name not in loaded)[:MAX_SHOWN]
    shown = await asyncio.gather(*(ask(f"{root}/api/show", {"model": name}) for name in names))
    return [
        LocalModel(name, sees_images="vision" in _list(details, "capabilities"))
        for name, details in zip(names, shown, strict=True)
        if isinstance(details, Mapping) and _ollama_has_tools(details)
    ]


def _is_remote(entry: Json) -> bool:
    return bool(entry.get("remote_host") or entry.get("remote_model")) or _name(entry).endswith("cloud")


def _ollama_has_tools(details: Json) -> bool:
    """Older versions tell no capabilities; there the template says it."""
    told = details.get("capabilities")
    return "tools" in told if isinstance(told, list) else ".Tools" in _text(details, "template")


async def _lmstudio(root: str) -> list[LocalModel] | None:
    answer = await ask(f"{root}/api/v0/models")
    if not isinstance(answer, Mapping):
        return None
    able = [
        entry
        for entry in _entries(answer, "data")
        if entry.get("type") in ("llm", "vlm") and "tool_use" in _list(entry, "capabilities") and _name(entry)
    ]
    able.sort(key=lambda entry: entry.get("state") != "loaded")
    return [
        LocalModel(_name(entry), _count(entry, "loaded_context_length"), entry.get("type") == "vlm") for entry in able
    ]


async def _llamacpp(root: str) -> list[LocalModel] | None:
    props, listed = await asyncio.gather(ask(f"{root}/props"), ask(f"{root}/v1/models"))
    if not isinstance(props, Mapping) or not ("chat_template" in props or "default_generation_settings" in props):
        return None
    name = next(map(_name, _entries(listed, "data")), "")
    if not (name and _llamacpp_has_tools(props)):
        return []
    window = _count(_part(props, "default_generation_settings"), "n_ctx")
    return [LocalModel(name, window, _part(props, "modalities").get("vision") is True)]


def _llamacpp_has_tools(props: Json) -> bool:
    """Older versions do not tell; there the template says it."""
    told = _part(props, "chat_template_caps").get("supports_tools")
    return told if isinstance(told, bool) else "tools" in _text(props, "chat_template")


async def _vllm(root: str) -> list[LocalModel] | None:
    """vLLM tells of windows and nothing of abilities."""
    answer = await ask(f"{root}/v1/models")
    if not isinstance(answer, Mapping):
        return None
    entries = [entry for entry in _entries(answer, "data") if _name(entry)]
    return [LocalModel(_name(entry), _count(entry, "max_model_len"), assumed=True) for entry in entries]


def _entries(answer: Any, name: str) -> Iterator[Json]:
    values = answer.get(name) if isinstance(answer, Mapping) else None
    return (entry for entry in (values if isinstance(values, list) else ()) if isinstance(entry, Mapping))


def _part(value: Json, name: str) -> Json:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}


def _list(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else []


def _name(entry: Json) -> str:
    """A model's name, if it is one that can be shown."""
    found = _text(entry, "id") or _text(entry, "name")
    return found if found.isprintable() else ""


def _text(value: Json, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _count(value: Json, name: str) -> int:
    found = value.get(name)
    return found if isinstance(found, int) and 0 < found < 2**31 else 0


_LOOK: Mapping[str, Callable[[str], Awaitable[list[LocalModel] | None]]] = {
    "ollama": _ollama,
    "lmstudio": _lmstudio,
    "llamacpp": _llamacpp,
    "vllm": _vllm,
}
"""How each kind is asked for its models that can use tools; None: there is no such server."""

"""The providers known by name: where they are, whose key they take, and how they are spoken to."""

from __future__ import annotations

from urllib.parse import urlsplit

from hermes_acp.config import ApiMode
from hermes_acp.lazy_dataclasses import dataclass

DEMO = "demo"
"""The provider that is rules instead of a model; used only when it is named."""


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """A provider by name.

    `key_variable` is the environment variable of its own key, which goes to the host of `base_url` and
    nowhere else; local servers have none. `api_mode` is what its name alone implies. `models` are the
    beginnings of the names of its models.
    """

    name: str
    label: str
    base_url: str = ""
    key_variable: str = ""
    default_model: str = ""
    api_mode: ApiMode | None = None
    models: tuple[str, ...] = ()

    @property
    def is_hosted(self) -> bool:
        """Whether it is a service that nobody uses without a key."""
        return bool(self.key_variable)


PROVIDERS: dict[str, KnownProvider] = {
    known.name: known
    for known in (
        KnownProvider(
            "openai",
            "OpenAI",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            "gpt-5.5",
            models=("gpt", "chatgpt", "o1", "o3", "o4", "codex"),
        ),
        KnownProvider(
            "openrouter",
            "OpenRouter",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            "openrouter/auto",
            models=("openrouter/", "openai/", "anthropic/", "google/", "meta-llama/", "qwen/", "deepseek/"),
        ),
        KnownProvider(
            "anthropic",
            "Anthropic",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            "claude-sonnet-5-5",
            "anthropic_messages",
            ("claude",),
        ),
        KnownProvider(
            "openai-codex",
            "OpenAI's Codex back end, with a ChatGPT account's token",
            "https://chatgpt.com/backend-api/codex",
            "CODEX_ACCESS_TOKEN",
            "gpt-5.5",
            "codex_responses",
        ),
        KnownProvider("ollama", "Ollama on this machine", "http://127.0.0.1:11434/v1"),
        KnownProvider("lmstudio", "LM Studio on this machine", "http://127.0.0.1:1234/v1"),
        KnownProvider("llamacpp", "llama.cpp on this machine", "http://127.0.0.1:8080/v1"),
        KnownProvider("vllm", "vLLM on this machine", "http://127.0.0.1:8000/v1"),
        KnownProvider("custom", "Any other server that speaks one of these APIs"),
        KnownProvider(DEMO, "Rules instead of a model, to look around"),
    )
}


def provider_at(url: str) -> KnownProvider | None:
    """The known provider whose host this address has; compared as parsed, never as a piece of text."""
    host = urlsplit(url).hostname
    port = urlsplit(url).port
    for known in PROVIDERS.values():
        own = urlsplit(known.base_url)
        if known.base_url and own.hostname == host and (known.is_hosted or own.port == port):
            return known
    return None


def api_mode_of(explicit: str, provider: str, url: str) -> str:
    """How an endpoint is spoken to: what was said, else what its name, else what its address implies."""
    if explicit:
        return explicit
    known = PROVIDERS.get(provider)
    if known and known.api_mode:
        return known.api_mode
    return _api_mode_at(url)


def _api_mode_at(url: str) -> ApiMode:
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if parts.hostname == "api.anthropic.com" or path.endswith("/anthropic"):
        return "anthropic_messages"
    if parts.hostname == "chatgpt.com" and path.startswith("/backend-api/codex"):
        return "codex_responses"
    return "chat_completions"

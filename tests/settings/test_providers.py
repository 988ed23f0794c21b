"""The API that an address is spoken to with."""

import pytest

from hermes_acp.settings.providers import api_mode_of


@pytest.mark.parametrize(
    ("explicit", "provider", "url", "expected"),
    [
        ("codex_responses", "anthropic", "https://api.anthropic.com", "codex_responses"),
        ("", "anthropic", "https://proxy.example/v1", "anthropic_messages"),
        ("", "openai-codex", "https://proxy.example/v1", "codex_responses"),
        ("", "custom", "https://api.anthropic.com/v1", "anthropic_messages"),
        ("", "custom", "https://proxy.example/anthropic", "anthropic_messages"),
        ("", "custom", "https://proxy.example/anthropic/", "anthropic_messages"),
        ("", "custom", "https://proxy.example/anthropic/v1", "chat_completions"),
        ("", "custom", "https://chatgpt.com/backend-api/codex", "codex_responses"),
        ("", "custom", "https://chatgpt.com.evil.example/backend-api/codex", "chat_completions"),
        ("", "custom", "https://evil.example/chatgpt.com/backend-api/codex", "chat_completions"),
        ("chat_completions", "openai-codex", "https://chatgpt.com/backend-api/codex", "chat_completions"),
        ("", "custom", "https://api.anthropic.com.evil.example", "chat_completions"),
        ("", "custom", "https://evil.example/api.anthropic.com", "chat_completions"),
        ("", "custom", "https://evil.example/?x=/anthropic", "chat_completions"),
        ("", "custom", "https://evil.example/not-anthropic", "chat_completions"),
        ("", "custom", "https://api.anthropic.com@evil.example/v1", "chat_completions"),
        ("", "custom", "https://API.Anthropic.com", "anthropic_messages"),
        ("", "openai", "https://api.openai.com/v1", "chat_completions"),
    ],
)
def test_the_api_mode_is_found_in_four_steps(explicit, provider, url, expected):
    assert api_mode_of(explicit, provider, url) == expected

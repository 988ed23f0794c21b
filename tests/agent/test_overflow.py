"""The limit in a refusal, in the words of many servers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.overflow import told_limit

REFUSALS = [
    ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", 8192),
    ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
    ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 200_000),
    ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
    ("Requested token count exceeds the model's maximum context length of 32,768 tokens.", 32_768),
    ("The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    ("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.", 272_000),
    ("This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens", 131_072),
    ("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32_768),
    ("trying to keep the first 5000 tokens when the context overflows, with a context of 4096 tokens only", 4096),
    ("the request exceeds the available context size, try increasing it (n_ctx: 4096)", 4096),
    ("context_length_exceeded", 0),
    ("too many tokens", 0),
]


@pytest.mark.parametrize(("message", "limit"), REFUSALS)
def test_the_limit_is_found(message, limit):
    assert told_limit(message) == limit


@given(st.text())
def test_any_text_gives_a_plausible_number_or_none(text):
    found = told_limit(text)
    assert found == 0 or 256 <= found <= 100_000_000

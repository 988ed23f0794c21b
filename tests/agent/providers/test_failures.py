"""What servers say when a call fails, and what it means."""

import json
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from hermes_acp.agent.providers.failures import MAX_MESSAGE, failure_of, kind_of, provider_error, retry_after
from hermes_acp.agent.providers.masking import masked

LINES = Path(__file__).with_name("failures.jsonl").read_text("utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['status']} {str(row['body'])[:60]}")
def test_failures_are_of_the_kind_that_retry_and_fallback_decide_by(row):
    assert kind_of(failure_of(row["body"], row["status"])) == row["kind"]


def test_the_limit_that_a_server_names_stays_in_the_message():
    error = provider_error(failure_of({"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}, 400), "acme")
    assert str(error) == "acme (HTTP 400): prompt is too long: 9 tokens > 8 maximum"


@pytest.mark.parametrize(
    "body", [None, "", [], {}, {"error": None}, {"error": {}}, {"error": []}, [1], 7, {"error": True}]
)
def test_a_body_that_tells_nothing_is_a_failure_all_the_same(body):
    assert str(provider_error(failure_of(body, 500), "acme")).startswith("acme (HTTP 500): ")


def test_a_message_is_short_and_fit_to_print():
    message = str(provider_error(failure_of({"error": {"message": "\x1b[31m\ud83d" + "x" * 10**6}}, 500), "acme"))
    assert len(message) <= MAX_MESSAGE + 100
    assert "\x1b" not in message
    message.encode()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_date_to_come_back_at_is_counted_from_now():
    asked = retry_after({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert 25 <= asked <= 31


@pytest.mark.parametrize(
    "secret",
    [
        "sk-test-SECRET123",
        "sk-proj-ab12****************wxyz",
        "sk-ant-api03-abcdef",
        "gsk_abcdefghijk",
        "ghp_abcdefghijk",
        "AIzaSyA1234567890",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.abc-def",
    ],
)
def test_anything_of_a_keys_shape_is_masked(secret):
    for text in (f"bad key {secret}.", f"key={secret}", f"'{secret}'", f"Bearer {secret}"):
        assert secret not in masked(text)
        assert secret[-6:] not in masked(text)


def test_the_key_in_use_is_masked_whatever_its_shape_and_passwords_in_addresses_too():
    assert masked("not hunter2-hunter2!", "hunter2-hunter2") == "not [key]!"
    assert masked("http://me:pass@proxy:80 failed") == "http://[key]@proxy:80 failed"
    assert masked("the mock server failed", "mock") == "the mock server failed"
    assert masked("use task-oriented risk-free key words", "") == "use task-oriented risk-free key words"

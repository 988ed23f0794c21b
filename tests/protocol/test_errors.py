"""Which failure becomes which error, and what an error may tell."""

from __future__ import annotations

import logging

import pytest
from pydantic import ValidationError

from hermes_acp.errors import ConfigError, CredentialsMissing, ProviderError, SessionNotFound, StoreError
from hermes_acp.protocol.errors import Disconnected, RemoteError, RpcError, from_exception, invalid_params
from hermes_acp.protocol.inbound import NewSessionParams, PromptParams


def validation_error(params: object) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        NewSessionParams.model_validate(params)
    return caught.value


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (SessionNotFound("nope"), -32002),
        (CredentialsMissing("set a key"), -32000),
        (ConfigError("config.toml: model.name must be text"), -32603),
        (StoreError("the store is locked"), -32603),
        (ProviderError("the key was rejected", kind="auth", status=401), -32603),
        (RemoteError(-32601, "Method not found"), -32603),
        (Disconnected("the editor is gone"), -32603),
        (invalid_params("cwd: must be absolute"), -32602),
        (validation_error({}), -32602),
    ],
)
def test_each_failure_has_its_code(failure: Exception, code: int) -> None:
    assert from_exception(failure).code == code


def test_an_unknown_session_is_named_in_the_data() -> None:
    assert from_exception(SessionNotFound("nope")).to_dict()["data"] == {"sessionId": "nope"}


def test_a_provider_failure_tells_its_reason_and_is_never_a_missing_login() -> None:
    error = from_exception(ProviderError("The key was rejected.", kind="auth", status=401)).to_dict()
    assert error == {"code": -32603, "message": "The key was rejected.", "data": {"kind": "auth", "status": 401}}


def test_the_text_of_an_unforeseen_exception_is_logged_and_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        error = from_exception(RuntimeError("token sk-secret at /home/me"))
    assert error.to_dict() == {"code": -32603, "message": "Internal error"}
    assert "sk-secret" in caplog.text


def test_wrong_params_are_named_by_field_and_their_values_are_not_sent() -> None:
    with pytest.raises(ValidationError) as caught:
        PromptParams.model_validate({"sessionId": 5, "prompt": [{"type": "text", "text": ["sk-secret"]}]})
    message = from_exception(caught.value).message
    assert "sessionId: " in message
    assert "prompt.0.text.text: " in message
    assert "sk-secret" not in message


def test_data_are_left_out_when_there_are_none() -> None:
    assert RpcError(1, "m").to_dict() == {"code": 1, "message": "m"}

"""The router: a real jsonrpcserver, without what it would import for nothing and without its leaks."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from hermes_acp.protocol.errors import RpcError
from hermes_acp.protocol.inbound import Params
from hermes_acp.protocol.jsonrpc import Request
from hermes_acp.protocol.routes import Call, Route
from hermes_acp.protocol.routing import Router


async def answer(method: str, route: Route, **params: Any) -> Any:
    request = Request(1, method, params)
    checked = route.params.model_validate(params)
    return await Router([route]).answer(Call(None, 1, method), request, checked)


async def echo(call: Call[Any], params: Params) -> dict[str, Any]:
    return {"id": call.id, **(params.model_extra or {})}


def run_python(program: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=20, check=True
    )
    return json.loads(done.stdout)


async def test_a_route_gets_the_call_and_its_params() -> None:
    assert await answer("echo", Route("echo", Params, echo), a=1, call=2, context=3) == {
        "id": 1,
        "a": 1,
        "call": 2,
        "context": 3,
    }


async def test_a_method_that_does_not_exist_is_refused_by_the_library() -> None:
    with pytest.raises(RpcError) as caught:
        await answer("other", Route("echo", Params, echo))
    assert (caught.value.code, caught.value.data) == (-32601, "other")


async def test_params_that_were_refused_never_reach_the_route() -> None:
    refusal = RpcError(-32602, "no", {"field": "a"})
    with pytest.raises(RpcError) as caught:
        await Router([Route("echo", Params, echo)]).answer(Call(None, 1, "echo"), Request(1, "echo", [1]), refusal)
    assert caught.value.to_dict() == refusal.to_dict()


@pytest.mark.parametrize("failure", [RuntimeError("sk-secret"), AssertionError("sk-secret"), TypeError("sk-secret")])
async def test_no_text_of_an_exception_gets_through(failure: Exception) -> None:
    async def fail(call: Call[Any], params: Params) -> dict[str, Any]:
        raise failure

    with pytest.raises(RpcError) as caught:
        await answer("fail", Route("fail", Params, fail))
    assert caught.value.to_dict() == {"code": -32603, "message": "Internal error"}


async def test_an_error_without_data_has_none() -> None:
    async def fail(call: Call[Any], params: Params) -> dict[str, Any]:
        raise RpcError(-32602, "no")

    with pytest.raises(RpcError) as caught:
        await answer("fail", Route("fail", Params, fail))
    assert caught.value.data is None


def test_the_library_is_loaded_without_its_validator_and_its_server_and_without_a_warning() -> None:
    program = "import json, sys, hermes_acp.protocol.routing; print(json.dumps(sorted(sys.modules)))"
    modules = set(run_python(program))
    assert "jsonrpcserver.async_dispatcher" in modules
    assert not {"jsonrpcserver", "jsonrpcserver.main", "jsonschema", "http.server", "pkg_resources"} & modules


def test_the_whole_library_can_still_be_imported_afterwards() -> None:
    program = """if True:
        import json, warnings
        import hermes_acp.protocol.routing
        warnings.simplefilter("ignore")
        import jsonrpcserver
        print(json.dumps(jsonrpcserver.dispatch('{"jsonrpc":"2.0","method":"m","id":1}', {})))
    """
    assert json.loads(run_python(program))["error"]["code"] == -32601


def test_a_library_that_is_already_there_is_used_as_it_is() -> None:
    program = """if True:
        import json, sys, warnings
        warnings.simplefilter("ignore")
        import jsonrpcserver
        import hermes_acp.protocol.routing as routing
        print(json.dumps([sys.modules["jsonrpcserver"] is jsonrpcserver,
                          routing._dispatch is jsonrpcserver.async_dispatcher.dispatch_to_response_pure]))
    """
    assert run_python(program) == [True, True]

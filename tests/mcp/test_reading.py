"""What a server writes: whatever is wrong with an answer, the call that waits for it ends at once."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.errors import ToolError
from hermes_acp.mcp.reading import read_message
from tests.mcp.conftest import small

SAY = "print({text!r}.replace('ID', str(asked['id'])), flush=True); continue"

UNREADABLE = {
    "no JSON": '{"jsonrpc":"2.0","id":ID,"result":{"content":[',
    "two objects": '{"jsonrpc":"2.0","id":ID,"result":{}} {"more":1}',
    "a comma too many": '{"jsonrpc":"2.0","id":ID,"result":{"content":[],}}',
    "a result that is a text": '{"jsonrpc":"2.0","id":ID,"result":"fine"}',
    "an error that is a text": '{"jsonrpc":"2.0","id":ID,"error":"broken"}',
    "single quotes inside": '{"jsonrpc":"2.0","id":ID,"result":{\'content\':[]}}',
}


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_a_call_whose_answer_cannot_be_read_fails_at_once(servers, call, answer):
    servers.use([small(call=SAY.format(text=answer), timeout=30.0)])
    await servers.join()
    begun = time.monotonic()
    with pytest.raises(ToolError, match="cannot be read"):
        await call(text="hi")
    assert time.monotonic() - begun < 5


async def test_half_a_surrogate_pair_costs_a_character_and_not_the_answer(servers, call):
    text = json.dumps({"content": [{"type": "text", "text": "cut \ud83d here"}]})
    servers.use([small(call=SAY.format(text=f'{{"jsonrpc":"2.0","id":ID,"result":{text}}}'))])
    await servers.join()
    assert (await call(text="hi")).text == "cut \ufffd here"


@pytest.mark.parametrize(
    "line", ["Listening on 3000", '{"id": 7, "level": "info"}', "[]", "{", '{"jsonrpc":"2.0","id":1,"method":3}', ""]
)
def test_what_is_no_answer_is_nobodys(line):
    assert isinstance(read_message(line.encode()), ValueError)


@given(
    st.binary(max_size=200)
    | st.text().map(lambda text: f'{{"jsonrpc":"2.0","id":1,"result":{text}'.encode(errors="replace"))
)
def test_any_line_is_a_message_or_a_value_error(line):
    read_message(line)

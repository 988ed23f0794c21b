"""Calls that change files, as a model makes them, and the command that takes them back."""

from tests.fakes.model_server import Call


def write(path, content):
    return Call("write_file", {"path": str(path), "content": content})


def patch(path, old, new):
    return Call("patch", {"path": str(path), "old_text": old, "new_text": new})


def run(command):
    return Call("terminal", {"command": command})


async def undo(editor, session):
    """What is said to /undo."""
    before = len(editor.updates(session))
    assert await editor.prompt(session, "/undo") == "end_turn"
    chunks = [each for each in editor.updates(session)[before:] if each["sessionUpdate"] == "agent_message_chunk"]
    return "".join(chunk["content"]["text"] for chunk in chunks)

"""Allows no force pushes, and writes every call that ran into a file."""

import json
import os

import pluggy

hook = pluggy.HookimplMarker("hermes_acp")


@hook
def pre_tool_call(tool, arguments):
    if tool == "terminal" and "--force" in arguments.get("command", ""):
        return "Nothing is pushed by force here. Make a merge commit instead."
    return None


@hook
def post_tool_call(tool, arguments, result, is_error, duration_s, session_id, cwd):
    fact = {
        "tool": tool,
        "arguments": arguments,
        "result": result,
        "failed": is_error,
        "session": session_id,
        "cwd": cwd,
    }
    assert duration_s >= 0
    with open(os.environ["SAMPLE_LOG"], "a", encoding="utf-8") as file:
        file.write(json.dumps(fact) + "\n")

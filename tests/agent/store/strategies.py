"""Messages and events of every recorded kind, with hostile content."""

from hypothesis import strategies as st

from hermes_acp.cards import Diff, Location, ToolResult
from hermes_acp.events import (
    ContextCompacted,
    ModelSwitched,
    Notice,
    PlanChanged,
    PlanEntry,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolPrepared,
    UserPrompted,
)
from hermes_acp.messages import AssistantMessage, Image, Opaque, Text, ToolCall, ToolMessage, UserMessage

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, values, max_size=3)
images = st.builds(Image, st.sampled_from(["aGk=", "AAAA"]), st.sampled_from(["image/png", "image/jpeg"]))
parts = st.builds(Text, words) | images
user_messages = st.builds(UserMessage, st.lists(parts, min_size=1, max_size=3).map(tuple))
calls = st.builds(ToolCall, id=words, name=words, arguments=objects, provider_id=words)
messages = (
    user_messages
    | st.builds(
        AssistantMessage,
        text=words,
        reasoning=words,
        tool_calls=st.lists(calls, max_size=2).map(tuple),
        opaque=st.none() | st.builds(Opaque, words, words, objects),
        synthetic=st.booleans(),
    )
    | st.builds(
        ToolMessage,
        call_id=words,
        name=words,
        text=words,
        is_error=st.booleans(),
        images=st.lists(images, max_size=2).map(tuple),
    )
)

diffs = st.lists(st.builds(Diff, words, st.none() | words, words), max_size=2).map(tuple)
locations = st.lists(st.builds(Location, words, st.none() | st.integers(1, 10**6)), max_size=2).map(tuple)
results = st.builds(
    ToolResult,
    text=words,
    is_error=st.booleans(),
    images=st.lists(images, max_size=2).map(tuple),
    shown=st.none() | words,
    diffs=diffs,
    locations=locations,
    terminal_id=st.none() | words,
    raw=st.none() | objects,
)
durations = st.floats(0, 1e6)
single_events = (
    st.builds(UserPrompted, user_messages, words)
    | st.builds(
        ToolPrepared,
        call_id=words,
        name=words,
        kind=st.sampled_from(["read", "edit", "execute"]),
        title=words,
        arguments=objects,
        locations=locations,
        diffs=diffs,
    )
    | st.builds(ToolFinished, words, words, results, durations)
    | st.builds(
        PlanChanged,
        st.lists(
            st.builds(
                PlanEntry, words, st.sampled_from(["pending", "completed"]), st.sampled_from(["high", "medium", "low"])
            ),
            max_size=3,
        ).map(tuple),
    )
    | st.builds(Notice, st.sampled_from(["info", "warning", "error"]), words, words)
    | st.builds(ModelSwitched, words, words)
    | st.builds(ContextCompacted, st.integers(0), st.integers(0), words)
)
deltas = st.builds(TextDelta, words, st.sampled_from("ab")) | st.builds(ReasoningDelta, words, st.sampled_from("ab"))
events = single_events | deltas

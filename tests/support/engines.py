"""A context engine of somebody's own, for tests of `context.engine`."""

from hermes_acp.agent.context_engine import Compaction, Context, ContextEngine
from hermes_acp.messages import AssistantMessage, UserMessage


class FirstAndLast(ContextEngine):
    """Keeps the first turn and the last message, from the third turn on."""

    def __init__(self):
        self.turns = 0

    def is_due(self, used, window, moment):
        self.turns += moment == "turn_start"
        return moment == "turn_start" and self.turns > 2

    async def compact(self, context: Context):
        first, last = context.messages[:2], context.messages[-1]
        if len(context.messages) < 4 or not isinstance(first[1], AssistantMessage) or not isinstance(last, UserMessage):
            return None
        return Compaction((*first, last))

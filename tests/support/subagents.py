"""A model that plays a parent and its subagents, each by a script of its own."""

from dataclasses import replace

from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.messages import user
from tests.support.turns import call, calls


def goal_of(request):
    """The goal that a request's conversation began with; "" for the parent's."""
    return request.messages[0].text.partition("# Task\n")[2].partition("\n")[0]


class ByGoal:
    """Plays each agent by a script of its own, however their requests interleave; the parent's goal is ""."""

    name = model = "by goal"

    def __init__(self, **scripts):
        self.scripts = {goal: Scripted(*replies) for goal, replies in scripts.items()}

    def stream(self, request):
        return self.scripts[goal_of(request) or "parent"].stream(request)

    def requests(self, goal):
        return self.scripts[goal].requests


def delegate(*goals, **more):
    return calls(call("delegate_task", "d", tasks=[{"goal": goal} for goal in goals], **more))


async def run(scene, provider, host=None):
    scene.agent = replace(scene.agent, provider=provider)
    return await run_turn(scene.agent, scene.talk, user("go"), host or scene.host)


def result_of(provider):
    return provider.requests("parent")[1].messages[-1]

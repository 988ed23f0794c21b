"""Where the conversations are held: a whole agent but for its editor, and a model behind real HTTP."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.history import find_disorder, repair
from hermes_acp.agent.loop import Agent, run_turn
from hermes_acp.agent.providers.apis import api_of
from hermes_acp.agent.providers.base import Provider
from hermes_acp.agent.providers.continued import Continued
from hermes_acp.agent.providers.cooldown import Cooldown
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.fallback import Fallback, Link
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.agent.providers.retry import Backoff, Retrying
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.errors import ProviderError
from hermes_acp.events import TextDelta
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.messages import Message, UserMessage
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.approval import Approvals
from hermes_acp.tools.registry import discover
from tests.modes.talks import PICTURE, Talk

QUICK = Backoff(first=0.01, longest=5.0)


async def _system(workspace: object) -> str:
    return "You are a test."


def endpoint(url: str, *, name: str = "fake", stall_timeout: float = 20.0) -> Endpoint:
    """The endpoint of a model server."""
    return Endpoint(name, "fake-model", url, "sk-test-0123456789", stall_timeout)


@asynccontextmanager
async def connected(mode: str, place: Endpoint, backoff: Backoff = QUICK) -> AsyncIterator[Provider]:
    """A model as an agent asks it: with retries, and with cut answers continued."""
    model = RemoteModel(place, api_of(mode))
    try:
        yield Continued(Retrying(model, backoff))
    finally:
        await model.aclose()


@asynccontextmanager
async def chained(*links: tuple[str, Endpoint], backoff: Backoff = QUICK) -> AsyncIterator[Provider]:
    """Models of these modes and places, each asked when the one before it cannot answer."""
    async with AsyncExitStack() as stack:
        models = [await stack.enter_async_context(connected(mode, place, backoff)) for mode, place in links]
        yield Fallback(
            [Link(place.provider, model, Cooldown()) for (_, place), model in zip(links, models, strict=True)]
        )


@dataclass(slots=True)
class Stage:
    """One session. `stops` are how its turns ended: a reason to stop, "cancelled", or the kind of an error."""

    agent: Agent
    talk: Conversation
    store: Store
    host: RecordingHost = field(default_factory=RecordingHost)
    stops: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """The text that the person has read."""
        return "".join(delta.text for delta in self.host.of(TextDelta))

    async def prompt(self, message: UserMessage) -> None:
        """A turn."""
        await self._end(asyncio.ensure_future(run_turn(self.agent, self.talk, message, self.host)))

    async def interrupt(self, message: UserMessage, after: str) -> None:
        """A turn that is stopped when this text was shown."""
        turn = asyncio.ensure_future(run_turn(self.agent, self.talk, message, self.host))
        async with asyncio.timeout(10):
            while not self.shown.rstrip().endswith(after):
                await asyncio.sleep(0.005)
        turn.cancel()
        await self._end(turn)

    async def messages(self) -> list[Message]:
        """What the model will see, which is what is stored. Results are stored in the order they ended in."""
        assert find_disorder(self.talk.messages) is None
        assert repair(stored.message for stored in await self.store.messages("s")) == self.talk.messages
        return self.talk.messages

    async def _end(self, turn: asyncio.Future[object]) -> None:
        try:
            self.stops.append(getattr(await turn, "stop", ""))
        except asyncio.CancelledError:
            self.stops.append("cancelled")
        except ProviderError as error:
            self.stops.append(error.kind)


@asynccontextmanager
async def staged(provider: Provider, folder: Path, talk: Talk) -> AsyncIterator[Stage]:
    """A session with this model, in a folder with the conversation's files."""
    folder.mkdir(exist_ok=True)
    for name, data in {**talk.files, "c.png": base64.b64decode(PICTURE.data)}.items():
        (folder / name).write_bytes(data)
    store = await Store.open(None)
    await store.create(SessionRecord(id="s", cwd=str(folder), created_at="2026-01-01", updated_at="2026-01-01"))
    workspace = LocalWorkspace(folder, ())
    agent = Agent(provider, discover(), _system, max_calls=talk.max_calls)
    try:
        yield Stage(agent, Conversation("s", workspace, await store.journal("s"), Approvals()), store)
    finally:
        await workspace.aclose()
        await store.aclose()


async def play(stage: Stage, talk: Talk) -> None:
    """Say what the person says in a conversation."""
    first, *others = talk.prompts
    if talk.interrupted:
        await stage.interrupt(first, "some text")
    else:
        await stage.prompt(first)
    for prompt in others:
        await stage.prompt(prompt)

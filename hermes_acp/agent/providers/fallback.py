"""A provider made of several: when one cannot answer, the next one does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from hermes_acp.agent.providers.base import Delta, Provider, Request
from hermes_acp.agent.providers.cooldown import Cooldown
from hermes_acp.agent.providers.shown import Shown
from hermes_acp.errors import RETRYABLE, ProviderError, ProviderErrorKind
from hermes_acp.events import ModelSwitched, Notice, StatusChanged
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import UserMessage

FALLS_BACK: frozenset[ProviderErrorKind] = RETRYABLE | {"auth", "model_unavailable"}
"""What another model may do better. A request that is malformed, or too long, is so for every model."""

BACK = "It can be asked again."


@dataclass(frozen=True, slots=True)
class Link:
    """One model of a chain: its `label` is the name that the person sees, its `rest` is shared by all chains."""

    label: str
    provider: Provider
    rest: Cooldown


class Fallback:
    """Asks the first of `links`, and when it fails the next, with the same history (spec: agent-loop, 5).

    Never once some of the answer was shown: then the failure is raised. A model that failed is left alone for
    its cool-down; the first one is asked again by the first request of a turn after that, so that a turn stays
    with the model that has taken it over. When all rest, all are asked, in order.

    `ModelSwitched` is told before the first word of a model other than the one that the conversation knows of.
    It goes around everything that repeats or continues an answer: a continuation is never given to another
    model.
    """

    def __init__(self, links: Sequence[Link]) -> None:
        first, *_ = self._links = tuple(links)
        self.name, self.model = first.provider.name, first.provider.model

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply to a request; see `Provider`."""
        known, failed = request.answering or self._links[0].label, list[tuple[Link, ProviderError]]()
        for link in self._order(request):
            if failed:
                yield StatusChanged("fallback", f"{failed[-1][1]} Asking {link.label}.")
            shown = Shown()
            try:
                async with aclosing(link.provider.stream(request)) as deltas:
                    async for delta in deltas:
                        if known != link.label and not isinstance(delta, StatusChanged | Notice):
                            known = link.label
                            yield ModelSwitched(link.label, self._why(link, failed))
                        shown.note(delta)
                        yield delta
                link.rest.end()
                return
            except ProviderError as error:
                failed.append((link, error))
            for closed in shown.closing():
                yield closed
            if failed[-1][1].kind == "context_overflow" and known != link.label:
                # Whoever makes the context smaller has to know whose window it is to fit.
                yield ModelSwitched(link.label, self._why(link, failed[:-1]))
            self._consider(shown, failed)
        raise _every(failed)

    def _order(self, request: Request) -> list[Link]:
        """The links in the order in which they are asked: those that rest come last."""
        links = sorted(self._links, key=lambda link: _goes_on(request) and link.label != request.answering)
        return sorted(links, key=lambda link: not link.rest.over)

    def _consider(self, shown: Shown, failed: Sequence[tuple[Link, ProviderError]]) -> None:
        """Let the last one that failed rest.

        Raises:
            ProviderError: its failure, when no other one may be asked.
        """
        link, error = failed[-1]
        if shown.answer or error.kind not in FALLS_BACK:
            raise error
        link.rest.begin(error)

    def _why(self, link: Link, failed: Sequence[tuple[Link, ProviderError]]) -> str:
        if link is self._links[0]:
            return BACK
        return str(failed[-1][1]) if failed else self._links[0].rest.reason


def _goes_on(request: Request) -> bool:
    """Whether the request belongs to a turn that has begun before it."""
    return bool(request.answering and request.messages) and not isinstance(request.messages[-1], UserMessage)


def _every(failed: Sequence[tuple[Link, ProviderError]]) -> ProviderError:
    """The failure of a whole chain, as the first one's with the others' reasons."""
    (_, first), *others = failed
    if not others:
        return first
    reasons = [str(first), *(f"{link.label} failed too: {error}" for link, error in others)]
    return ProviderError(" ".join(reasons), kind=first.kind, status=first.status, retry_after=first.retry_after)

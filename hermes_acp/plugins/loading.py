"""Finding the plugins that are installed and making them ready."""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hermes_acp.events import Notice
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.plugins.worker import Worker
from hermes_acp.text import clean, shorten

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log = logging.getLogger(__name__)

GROUP = "hermes_acp.plugins"
"""The group of entry points that plugins are found by."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin that is ready: `hooks` has those that it implements, by name."""

    name: str
    hooks: dict[str, Callable[..., list[Any]]]
    worker: Worker


@dataclass(frozen=True, slots=True)
class Loaded:
    """All plugins in the order of their names, and a line for each that could not be loaded."""

    plugins: tuple[Plugin, ...] = ()
    problems: tuple[str, ...] = ()

    def notices(self) -> list[Notice]:
        """What the person is told of those that could not be loaded: they may have been installed for safety."""
        return [Notice("warning", "A plugin could not be loaded, and is not in force", line) for line in self.problems]


class Loading:
    """Loads the plugins once, whichever thread asks first."""

    def __init__(self, find: Callable[[], Loaded]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @property
    def done(self) -> Loaded | None:
        """What there is, if it has been loaded."""
        return self._loaded

    def __call__(self) -> Loaded:
        """Load them, unless that was done; blocks, and runs code of others: for a thread."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._find()
            return self._loaded


def installed() -> Iterable[EntryPoint]:
    """The entry points of all plugins that are installed."""
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def load(find: Callable[[], Iterable[EntryPoint]] = installed) -> Loaded:
    """Load every plugin that is found; one that is broken is left out and told of."""
    plugins: list[Plugin] = []
    problems: list[str] = []
    for entry in sorted(find(), key=lambda entry: entry.name):
        try:
            plugins.append(_load(entry))
        except (Exception, SystemExit) as error:
            log.warning("the plugin %s cannot be used", entry.name, exc_info=error)
            problems.append(f"{entry.name}: {_reason(error)}")
    return Loaded(tuple(plugins), tuple(problems))


def _load(entry: EntryPoint) -> Plugin:
    """Make one ready. Each has a manager of its own, so that what goes wrong is known to be its fault."""
    import pluggy

    from hermes_acp.plugins import spec

    manager = pluggy.PluginManager(spec.PROJECT)
    manager.add_hookspecs(spec)
    plugin = entry.load()
    manager.register(plugin() if isinstance(plugin, type) else plugin, entry.name)
    manager.check_pending()
    names = [name for name in ("pre_tool_call", "post_tool_call") if getattr(manager.hook, name).get_hookimpls()]
    for name in names:
        for implementation in getattr(manager.hook, name).get_hookimpls():
            if inspect.iscoroutinefunction(implementation.function):
                raise TypeError(f"{name} must be a plain function, not a coroutine")
    if not names:
        raise TypeError("it has no hook; are its functions marked with pluggy.HookimplMarker('hermes_acp')?")
    return Plugin(entry.name, {name: getattr(manager.hook, name) for name in names}, Worker(entry.name))


def _reason(error: BaseException) -> str:
    return shorten(" ".join(clean(f"{type(error).__name__}: {error}").split()), 300)


LOADING = Loading(load)
"""The plugins of this process."""

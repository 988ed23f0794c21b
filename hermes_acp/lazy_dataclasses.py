"""The dataclasses of the standard library, each with an `__init__` that is compiled when it is first called.

The standard library compiles up to six functions for each class as it is defined: a third of the time that the agent
needs to be ready, and most of those classes have no instance in a short run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen=False, eq=True, **layout):
        """As `dataclasses.dataclass`, for classes without `InitVar` and without an order.

        Args:
            frozen: fields cannot be assigned to, and instances that can be equal have a hash.
            eq: instances are equal when their fields are.
            layout: `slots` and `kw_only`, as there.
        """
        return lambda cls: _decorated(cls, frozen, eq, layout)


def _decorated(cls: type, frozen: bool, eq: bool, layout: dict[str, bool]) -> type:
    own = _own(cls)
    cls.__doc__ = cls.__doc__ or ""
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, **layout)(cls)
    methods: dict[str, Any] = {"__init__": _init_later(made, frozen, layout), "__repr__": _shown}
    if eq:
        methods |= _equality(made, frozen)
    if frozen:
        methods |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
    if frozen and layout.get("slots"):
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made


def _own(cls: type) -> set[str]:
    """What a class defines itself. The hash that a class with an `__eq__` of its own is without, it does not define."""
    own = vars(cls)
    return set(own) - ({"__hash__"} if own.get("__hash__") is None and "__eq__" in own else set())


def _init_later(cls: type, frozen: bool, layout: dict[str, bool]) -> Callable[..., None]:
    """An `__init__` that makes the real one."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        model: Any = dataclasses.dataclass(frozen=frozen, repr=False, eq=False, **layout)(_model(cls))
        model.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
        type.__setattr__(cls, "__init__", model.__init__)
        model.__init__(self, *args, **kwargs)

    return init


def _model(cls: type) -> type:
    """A class of the same fields."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    after = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    types = {name: field.type for name, field in fields.items()}
    about = {"__annotations__": types, "__doc__": "", "__module__": cls.__module__}
    return type(cls.__name__, (), {**fields, **after, **about})


@recursive_repr()
def _shown(self: Any) -> str:
    values = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(values)})"


def _equality(cls: Any, frozen: bool) -> dict[str, Any]:
    fields = dataclasses.fields(cls)
    compared = _values([field.name for field in fields if field.compare])
    hashed = _values([field.name for field in fields if (field.compare if field.hash is None else field.hash)])

    def equal(self: Any, other: object) -> Any:
        return compared(self) == compared(other) if type(self) is type(other) else NotImplemented

    def hashing(self: Any) -> int:
        return hash(hashed(self))

    return {"__eq__": equal, "__hash__": hashing if frozen else None}


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda instance: tuple(getattr(instance, name) for name in names)


def _refuse_set(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)

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
    # Without a docstring the standard library writes one, of a signature that it inspects.
    cls.__doc__ = cls.__doc__ or cls.__name__
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, **layout)(cls)
    methods: dict[str, Any] = {"__init__": _init_later(made, frozen, layout.get("slots", False)), "__repr__": _shown}
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


def _init_later(cls: type, frozen: bool, slots: bool) -> Callable[..., None]:
    """An `__init__` that makes the real one."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        compiled = _init(cls, frozen, slots)
        type.__setattr__(cls, "__init__", compiled)
        compiled(self, *args, **kwargs)

    return init


def _init(cls: type, frozen: bool, slots: bool) -> Callable[..., None]:
    """The `__init__` that the standard library gives a class, compiled alone."""
    assignment = "_set(_self, {0!r}, {1})" if frozen else "_self.{0} = {1}"
    fields = dataclasses.fields(cls)
    parameters = [_parameter(field) for field in fields if field.init and not field.kw_only]
    named = [_parameter(field) for field in fields if field.init and field.kw_only]
    values = [(field.name, value) for field in fields if (value := _value(field, slots))]
    body = [assignment.format(name, value) for name, value in values]
    after = ["_self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    heading = ", ".join(["_self", *parameters, *(["*", *named] if named else [])])
    scope: dict[str, Any] = {"_set": object.__setattr__, "_absent": object()}
    for field in fields:
        scope |= {f"_default_{field.name}": field.default, f"_make_{field.name}": field.default_factory}
    exec(f"def __init__({heading}):\n " + "\n ".join([*body, *after, "return None"]), scope)
    init: Callable[..., None] = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    return init


def _parameter(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return f"{field.name}=_absent"
    return field.name if field.default is dataclasses.MISSING else f"{field.name}=_default_{field.name}"


def _value(field: dataclasses.Field[Any], slots: bool) -> str:
    """What a field is set to, as an expression; "" if it is not set."""
    name = field.name
    if field.default_factory is not dataclasses.MISSING:
        return f"_make_{name}() if {name} is _absent else {name}" if field.init else f"_make_{name}()"
    if field.init:
        return name
    return f"_default_{name}" if slots and field.default is not dataclasses.MISSING else ""


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

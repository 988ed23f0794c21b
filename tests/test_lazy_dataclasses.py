"""Lazy dataclasses mean the same as the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.lazy_dataclasses import dataclass

NAMES = ("a", "b", "c", "d")

wishes = st.fixed_dictionaries(
    {
        "default": st.sampled_from(["none", "value", "factory"]),
        "init": st.booleans(),
        "repr": st.booleans(),
        "compare": st.booleans(),
        "hash": st.sampled_from([None, True, False]),
        "kw_only": st.sampled_from([dataclasses.MISSING, True, False]),
    }
)
arguments = st.lists(st.integers(0, 2), max_size=5)
named_arguments = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 2))
ways = st.fixed_dictionaries(
    {"frozen": st.booleans(), "slots": st.booleans(), "eq": st.booleans(), "kw_only": st.booleans()}
)


def a_field(wish):
    more = {key: value for key, value in wish.items() if key != "default"}
    match wish["default"]:
        case "value":
            return field(default=7, **more)
        case "factory":
            return field(default_factory=lambda: (1, 2), **more)
        case _:
            return field(**more)


def a_class(decorate, wishes, way):
    """A class of these fields; those without a default first, as positional ones must be."""
    ordered = sorted(wishes, key=lambda wish: wish["default"] != "none")
    fields = {name: a_field(wish) for name, wish in zip(NAMES, ordered, strict=False)}
    annotations = dict.fromkeys(fields, "object")
    return decorate(**way)(type("Sample", (), {**fields, "__annotations__": annotations, "__doc__": "A sample."}))


def outcome(call):
    try:
        return call()
    except (TypeError, AttributeError) as error:
        return type(error), str(error)


@given(st.lists(wishes, max_size=4), ways, arguments, named_arguments)
def test_every_class_is_made_shown_compared_and_hashed_as_the_standard_library_does(fields, way, given, named):
    ours, theirs = (a_class(decorate, fields, way) for decorate in (dataclass, dataclasses.dataclass))
    made = [outcome(lambda cls=cls: cls(*given, **named)) for cls in (ours, theirs)]
    if not isinstance(made[0], ours):
        assert made[0] == made[1]
        return
    mine, other = made
    assert outcome(lambda: repr(mine)) == outcome(lambda: repr(other))
    assert inspect.signature(ours).parameters.keys() == inspect.signature(theirs).parameters.keys()
    assert ours.__match_args__ == theirs.__match_args__
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    if way["eq"]:
        assert outcome(lambda: mine == ours(*given, **named)) == outcome(lambda: other == theirs(*given, **named))
        assert outcome(lambda: hash(mine)) == outcome(lambda: hash(other))
    assert mine != other
    for name in [one.name for one in dataclasses.fields(theirs)]:
        assert outcome(lambda name=name: setattr(mine, name, 9)) == outcome(lambda name=name: setattr(other, name, 9))


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0
    seen: list[int] = field(default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x")


@dataclass(frozen=True, slots=True)
class Place(Point):
    name: str = ""


def test_frozen_instances_are_copied_replaced_and_matched():
    point = Point(1, 2)
    assert copy.copy(point) == copy.deepcopy(point) == dataclasses.replace(point) == point
    assert dataclasses.replace(point, y=5) == Point(1, 5)
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "seen": []}
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)
    with pytest.raises(FrozenInstanceError):
        del point.x


def test_what_follows_the_init_is_called_and_lists_are_not_shared():
    with pytest.raises(ValueError, match="x"):
        Point(-1)
    assert Point(1).seen is not Point(1).seen


def test_a_subclass_has_the_fields_of_its_base_and_is_not_equal_to_it():
    assert repr(Place(1, name="here")) == "Place(x=1, y=0, name='here')"
    assert Place(1) != Point(1)
    assert Place.__hash__ is not Point.__hash__


def test_a_missing_argument_is_named_at_the_first_call_and_later():
    @dataclass()
    class Fresh:
        a: int

    for _ in range(2):
        with pytest.raises(TypeError, match=r"Fresh\.__init__\(\) missing 1 required positional argument: 'a'"):
            Fresh()


def test_methods_of_the_class_stay():
    @dataclass(frozen=True)
    class Own:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    assert Own(1) == 3
    assert repr(Own(1)) == "own"
    assert hash(Own(1)) == hash(Own(1))


def test_the_first_instances_may_be_made_in_several_threads():
    for _ in range(50):
        fresh = a_class(dataclass, [], {"frozen": True, "slots": True, "eq": True})
        threads = [threading.Thread(target=fresh) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert fresh() == fresh()


def test_the_agent_starts_without_the_inits_of_classes_that_it_does_not_use():
    program = (
        "import dataclasses, builtins\n"
        "made = []\n"
        "create = dataclasses._create_fn\n"
        "dataclasses._create_fn = lambda name, *more, **named: made.append(name) or create(name, *more, **named)\n"
        "import hermes_acp.events\n"
        "print(len(made), len(vars(hermes_acp.events)))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=20).stdout
    made, names = map(int, out.split())
    assert names > 30
    assert made < names / 2

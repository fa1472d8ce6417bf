"""``desktop.domain.loading.lazy_dataclass``: what comes of it is what the standard library makes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any

import pytest

from desktop.domain.loading.lazy_dataclass import dataclass

MAKERS: dict[str, Callable[..., Any]] = {"standard": dataclasses.dataclass, "lazy": dataclass}
METHODS = ("__init__", "__repr__", "__eq__", "__hash__")


@dataclass(frozen=True, slots=True)
class Kept:
    """Stands in a module, as pickle wants it."""

    name: str
    parts: tuple[int, ...] = ()


@dataclass(slots=True)
class Counted:
    """Not frozen."""

    count: int = 0
    names: list[str] = field(default_factory=list)


def _point(make: Callable[..., Any], **options: Any) -> Any:
    class Point:
        """A class with a default, a list of its own, a field that does not compare and one that is not given."""

        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, hash=False)
        note: str = field(default="", compare=False, repr=False)
        total: int = field(init=False, default=7)

    return make(**options)(Point)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"slots": True, "eq": False},
    {"frozen": True, "slots": True, "order": True},
    {"slots": True, "eq": False, "weakref_slot": True},
]


def _shown(act: Callable[[], Any]) -> str:
    try:
        return repr(act())
    except (TypeError, AttributeError, FrozenInstanceError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_behaves_as_the_standard_library_makes_it(options: dict[str, Any]) -> None:
    told = []
    for make in MAKERS.values():
        kind = _point(make, **options)
        one, same, other = kind(x=1), kind(x=1, note="seen"), kind(x=1, y=3)
        told.append(
            [
                str(inspect.signature(kind)),
                [(f.name, f.type, f.kw_only) for f in fields(kind)],
                kind.__match_args__,
                _shown(lambda: kind(1, 2)),  # noqa: B023 - called at once
                _shown(kind),
                _shown(lambda: kind(z=1)),  # noqa: B023
                repr(one).replace(hex(id(one)), "here"),
                (one == same, one == other, one == 1, kind.__hash__ is None),
                _shown(lambda: hash(one) == hash(same)),  # noqa: B023
                _shown(lambda: one < other),  # noqa: B023
                _shown(lambda: setattr(one, "x", 4)),  # noqa: B023
                _shown(lambda: delattr(other, "y")),  # noqa: B023
                _shown(lambda: replace(same, x=9).x),  # noqa: B023
                dataclasses.asdict(same),
            ]
        )
    assert told[0] == told[1]


def test_a_method_is_made_when_it_is_asked_for_and_not_before() -> None:
    kind = _point(dataclass, frozen=True, slots=True)
    made = [[name for name in METHODS if inspect.isfunction(kind.__dict__[name])]]
    for ask in (lambda: kind(1), lambda: kind(1) == kind(2), lambda: hash(kind(1)), lambda: repr(kind(1))):
        ask()
        made.append([name for name in METHODS if inspect.isfunction(kind.__dict__[name])])
    init, show, equal, number = METHODS
    assert made == [[], [init], [init, equal], [init, equal, number], [init, show, equal, number]]


def test_a_frozen_instance_takes_no_attribute_of_another_name() -> None:
    with pytest.raises(FrozenInstanceError):
        Kept("a").other = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        Counted().other = 1  # type: ignore[attr-defined]


def test_threads_that_ask_at_once_all_get_an_instance() -> None:
    for _ in range(20):
        kind = _point(dataclass, frozen=True, slots=True)
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(kind, range(64)))
        assert [one.x for one in made] == list(range(64))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_methods_that_a_class_has_itself_stay(make: Callable[..., Any]) -> None:
    @make(frozen=True, slots=True)
    class Own:
        x: int

        def __post_init__(self) -> None:
            object.__setattr__(self, "x", self.x * 2)

        def __repr__(self) -> str:
            return f"own {self.x}"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Own(2)), Own(2) == 3, hash(Own(1))) == ("own 4", True, 5)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_class_that_is_derived_has_the_fields_of_its_base_first(make: Callable[..., Any]) -> None:
    @make(frozen=True)
    class Base:
        x: int

    @make(frozen=True)
    class More(Base):
        y: int = 3

    class Plain(Base):
        def __init__(self, x: int) -> None:
            super().__init__(x)
            self.seen = True

    assert repr(More(1)).endswith("More(x=1, y=3)")
    assert (Plain(4).seen, Plain(4).x) == (True, 4)
    with pytest.raises(FrozenInstanceError):
        Plain(4).x = 5
    with pytest.raises(TypeError, match="non-frozen"):
        make()(type("Loose", (Base,), {"__annotations__": {"z": "int"}}))


@pytest.mark.parametrize("one", [Kept("a", (1, 2)), Counted(3, ["b"])], ids=["frozen", "not frozen"])
def test_instances_are_copied_and_pickled(one: object) -> None:
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one

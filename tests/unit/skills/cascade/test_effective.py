"""What a skill's frontmatter comes to: merging, inheritance, order, values that change with the arguments."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.errors import ConfigurationError
from desktop.domain.skills import SkillDef
from desktop.skills.cascade.effective import Cascades, promotions
from desktop.skills.cascade.merge import InheritanceError, linearised, merged
from desktop.skills.cascade.order import SENTINELS, OrderCycle, Placement, ordered


class Finder:
    def __init__(self, *definitions: SkillDef, authority: SkillDef | None = None) -> None:
        self.by_name = {one.name: one for one in definitions}
        self.authority = authority
        self.asked: list[str] = []

    def find_tool(self, ref: str, *, cwd: str | None = None) -> SkillDef | None:
        self.asked.append(ref)
        return self.by_name.get(ref)

    def find_cached(self, ref: str) -> tuple[bool, SkillDef | None]:
        return ref in self.by_name, self.by_name.get(ref)

    def list_tools(self) -> list[SkillDef]:
        return list(self.by_name.values())

    def find_authority(self, definition: SkillDef) -> SkillDef | None:
        return self.authority

    def body(self, definition: SkillDef) -> str:
        return ""


def one(name: str, source: Any = "mine", role: str = "", **metadata: Any) -> SkillDef:
    return SkillDef(name, name, "markdown", source, metadata=metadata, role=role)


def layer(name: str, **metadata: Any) -> SkillDef:
    return one(name, "library", "middleware", **metadata)


# -- merging ----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-INV-12")
def test_library_default_then_the_authority_then_ancestors_then_the_skill() -> None:
    default = one("default", "library", a="default", b="default", c="default", d="default")
    main = one("main", "project", b="main", c="main", d="main")
    base = one("base", c="base", d="base")
    skill = SkillDef("work", "x", "markdown", "mine", metadata={"$inherit": "base", "d": "own"})
    found = Cascades(Finder(default, main, base, skill, authority=main)).of(skill, {})
    assert found.metadata == {"a": "default", "b": "main", "c": "base", "d": "own"}
    assert found.origins == {"a": "default", "b": "main", "c": "base", "d": "work"}


@pytest.mark.spec("R-INV-12")
def test_what_a_skill_is_for_itself_is_never_inherited() -> None:
    main = one("main", "project", role="main", tags=["x"], visibility="hidden", params={"type": "object"}, cwd="/a")
    found = Cascades(Finder(main, authority=main)).of(one("work"), {})
    assert found.metadata == {"cwd": "/a"}


@pytest.mark.spec("R-INV-12")
def test_paths_are_put_before_mcp_is_merged_and_include_is_added() -> None:
    layers = [
        ("outer", {"paths": "a", "mcp": {"x": {"n": 1}, "y": {"n": 1, "m": 1}}, "include": "i", "model": {"id": "m"}}),
        ("middle", {"paths": ["b", "c"], "include": None, "model": {"region": "r"}}),
        ("inner", {"paths": ["d", "e"], "mcp": {"y": {"n": 2}, "z": 3}, "include": ["j", "k"]}),
    ]
    result, origins = merged(layers)
    assert result == {
        "paths": ["d", "e", "b", "c", "a"],
        "mcp": {"x": {"n": 1}, "y": {"n": 2}, "z": 3},
        "include": ["i", "j", "k"],
        "model": {"region": "r"},
    }
    assert origins == {"paths": "inner", "mcp": "inner", "include": "inner", "model": "middle"}


@pytest.mark.spec("R-INV-12")
def test_false_opts_out_of_everything_above() -> None:
    main = one("main", "project", cwd="/a")
    skill = SkillDef("work", "x", "markdown", "mine", metadata={"$inherit": False, "own": 1})
    assert Cascades(Finder(main, authority=main)).of(skill, {}).metadata == {"own": 1}


@pytest.mark.spec("R-INV-12", "R-RES-18")
def test_authority_in_the_chain_stands_for_the_enclosing_main_skill() -> None:
    main = one("main", "project", a="main", b="main")
    base = one("base", a="base")
    skill = SkillDef("work", "x", "markdown", "mine", metadata={"$inherit": ["$authority", "base"]})
    found = Cascades(Finder(base, main, authority=main)).of(skill, {})
    assert found.metadata == {"a": "main", "b": "main"}


@pytest.mark.spec("R-INV-12")
def test_several_parents_are_linearised_as_c3_says() -> None:
    parents = {"d": ["b", "c"], "b": ["a"], "c": ["a"], "a": []}
    assert linearised("d", parents.__getitem__) == ["d", "b", "c", "a"]


@pytest.mark.spec("R-INV-12")
def test_a_circle_a_contradiction_and_a_missing_ancestor_are_errors_in_words() -> None:
    circle = {"a": ["b"], "b": ["a"]}
    with pytest.raises(InheritanceError, match="a from b from a"):
        linearised("a", circle.__getitem__)
    contrary = {"z": ["x", "y"], "x": ["o", "p"], "y": ["p", "o"], "o": [], "p": []}
    with pytest.raises(InheritanceError, match="contradict"):
        linearised("z", contrary.__getitem__)
    skill = SkillDef("work", "x", "markdown", "mine", metadata={"$inherit": "gone"})
    with pytest.raises(ConfigurationError, match="gone"):
        Cascades(Finder()).of(skill, {})
    with pytest.raises(InheritanceError, match="more than"):
        linearised("0", lambda name: [str(int(name) + 1)])


# -- middleware -------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-INV-10", "R-INV-4")
def test_only_keys_with_a_ready_middleware_skill_stand_in_the_chain_in_the_order_declared() -> None:
    finder = Finder(layer("retry"), layer("cache"), one("note"))
    skill = one("work", retry=1, note=1, unknown=1, cache={"for": 5}, model={"id": "x"})
    found = Cascades(finder).of(skill, {})
    assert [(entry.name, entry.value) for entry in found.chain] == [("retry", 1), ("cache", {"for": 5})]
    assert found.order == ("validate-allowed-tools", "validate-args", "limits", "safety", "trust", "retry", "cache")


@pytest.mark.spec("R-INV-12")
def test_a_key_set_to_false_or_removed_drops_an_inherited_layer() -> None:
    main = one("main", "project", retry=1, cache=1)
    finder = Finder(layer("retry"), layer("cache"), main, authority=main)
    assert not Cascades(finder).of(one("off", retry=False, cache=None), {}).chain
    removing = SkillDef("gone", "x", "markdown", "mine", metadata={"$remove": ["retry"]})
    assert [entry.name for entry in Cascades(finder).of(removing, {}).chain] == ["cache"]


@pytest.mark.spec("R-INV-10")
def test_the_served_skill_may_order_its_layers_too() -> None:
    finder = Finder(layer("a"), layer("b"))
    skill = one("work", a=1, b=1, **{"$order": {"b": {"before": ["a"]}}})
    assert [entry.name for entry in Cascades(finder).of(skill, {}).chain] == ["b", "a"]


@pytest.mark.spec("R-INV-10")
def test_sentinels_keep_their_order_whatever_is_asked() -> None:
    order = ordered([Placement("late", after=("$execute",)), Placement("early", before=("$configure",))])
    assert order == ("early", "late")
    with pytest.raises(OrderCycle) as caught:
        ordered([Placement("x", before=("$configure",), after=("$execute",))])
    assert caught.value.cycle[0] == caught.value.cycle[-1]


NAMES = st.sampled_from(["a", "b", "c", "d", *SENTINELS])


@pytest.mark.spec("R-INV-10")
@given(st.lists(st.tuples(NAMES, NAMES), max_size=8))
def test_every_order_that_can_hold_holds_and_every_other_names_its_circle(pairs: list[tuple[str, str]]) -> None:
    entries = [
        Placement(
            name,
            before=tuple(two for one, two in pairs if one == name),
            after=tuple(one for one, two in pairs if two == name),
        )
        for name in ("a", "b", "c", "d")
    ]
    order: tuple[str, ...] = ()
    with contextlib.suppress(OrderCycle):
        order = ordered(entries)
    if not order:
        with pytest.raises(OrderCycle, match=" before "):
            ordered(entries)
        return
    assert sorted(order) == ["a", "b", "c", "d"]
    for one_, two in pairs:
        if one_ in order and two in order and one_ != two:
            assert order.index(one_) < order.index(two)


# -- values that change -----------------------------------------------------------------------------------------------


@pytest.mark.spec("R-INV-14", "R-RES-13")
def test_values_named_in_the_frontmatter_are_part_of_the_caches_key() -> None:
    finder = Finder(layer("session"))
    cascades = Cascades(finder)
    skill = one("work", session={"key": "for-${args.user.name}", "limit": "${args.limit}"})
    first = cascades.of(skill, {"user": {"name": "ada"}, "limit": 3, "other": 1})
    assert first.chain[0].value == {"key": "for-ada", "limit": 3}
    assert first.volatile == ("args.user.name", "args.limit")
    assert cascades.known(skill, {"user": {"name": "ada"}, "limit": 3, "other": 2}) is first
    assert cascades.known(skill, {"user": {"name": "bob"}, "limit": 3}) is None
    assert cascades.of(skill, {"user": {"name": "bob"}}).chain[0].value == {"key": "for-bob", "limit": None}


@pytest.mark.spec("R-INV-14")
def test_what_an_argument_says_is_not_looked_through_again() -> None:
    skill = one("work", session="${args.a}")
    found = Cascades(Finder(layer("session"))).of(skill, {"a": "${args.b}", "b": "secret"})
    assert found.chain[0].value == "${args.b}"


@pytest.mark.spec("R-INV-14")
def test_a_skill_without_such_values_is_computed_once() -> None:
    finder = Finder(layer("retry"))
    cascades = Cascades(finder)
    skill = one("work", retry=1)
    first = cascades.of(skill, {"a": 1})
    finder.asked.clear()
    assert cascades.of(skill, {"a": 2}) is first
    assert not finder.asked


@pytest.mark.spec("R-INV-13")
def test_promotions_come_from_the_main_skill() -> None:
    main = SkillDef("main", "x", "markdown", "project", metadata={"$local": {"a": 1}, "$global": {"b": 2}})
    assert promotions(main).local == {"a": 1}
    assert promotions(main).shared == {"b": 2}
    assert not promotions(None).local

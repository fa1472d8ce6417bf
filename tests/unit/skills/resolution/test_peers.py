"""Skills that can come to call themselves, by the names in their lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.peers import components, cyclic_peers
from tests.harness.skills import empty_globals, look_again
from tests.unit.skills.resolution.kit import opened, skill

NAMES = "abcdef"


@pytest.mark.spec("R-RES-13")
def test_skills_whose_lists_lead_back_to_them_are_peers_and_no_others(tmp_path: Path) -> None:
    for name, allowed in {
        "one": "two outside",
        "two": "three",
        "three": "one(x=1)",
        "outside": "nothing-there",
        "myself": "myself",
        "wide": "*",
        "tagged": "'#all one'",
        "denying": "denied",
        "denied": "'denying denying($deny)'",
        "broken": "'one('",
    }.items():
        skill(tmp_path, name, allowed=allowed)
    skill(tmp_path, "listless")
    ring = frozenset({"one", "two", "three"})
    found = cyclic_peers(globals := empty_globals([str(tmp_path)]))
    assert found == {**dict.fromkeys(ring, ring), "myself": frozenset({"myself"})}
    assert globals.cache.cyclic_peers is cyclic_peers(globals) is found


@pytest.mark.spec("R-RES-13", "R-RES-17")
def test_they_are_worked_out_again_after_a_change(tmp_path: Path) -> None:
    skill(tmp_path, "one", allowed="two")
    skill(tmp_path, "two", allowed="one")
    globals = empty_globals([str(tmp_path)])
    assert set(cyclic_peers(globals)) == {"one", "two"}
    skill(tmp_path, "two", "Other.", allowed="read-file")
    look_again(globals)
    assert cyclic_peers(globals) == {}


def test_a_skill_names_the_others_on_its_way_and_itself_where_there_are_none(tmp_path: Path) -> None:
    skill(tmp_path, "one", allowed="two")
    skill(tmp_path, "two", allowed="one")
    skill(tmp_path, "myself", allowed="myself")
    skill(tmp_path, "plain", allowed="one")
    fabric = opened(SearchRoot(str(tmp_path), "mine"))
    fabric.refresh()
    said = {one.name: fabric.peers_of(one) for one in fabric.list_tools()}
    fabric.close()
    assert said == {"one": ("two",), "two": ("one",), "myself": ("myself",), "plain": ()}


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=4)))
def test_components_are_those_that_reach_each_other(edges: dict[str, list[str]]) -> None:
    def reached(start: str) -> set[str]:
        found, todo = {start}, [start]
        while todo:
            new = set(edges.get(todo.pop(), ())) - found
            found |= new
            todo += new
        return found

    met = set(edges).union(*edges.values()) if edges else set()
    expected = {frozenset(b for b in reached(a) if a in reached(b)) for a in met}
    found = components(edges)
    assert {frozenset(group) for group in found} == expected
    assert sum(map(len, found)) == len(met)


def test_a_long_ring_and_a_long_chain_need_no_recursion() -> None:
    count = 5_000
    chain = {str(at): [str(at + 1)] for at in range(count)}
    assert len(components(chain)) == count + 1
    assert [len(group) for group in components({**chain, str(count): ["0"]})] == [count + 1]

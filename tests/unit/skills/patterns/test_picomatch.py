"""Globs agree with picomatch 4: its recorded answers, and every deliberate difference with its reason (Q-4)."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.skills.patterns import PatternError, compile_glob
from tests.unit.skills.patterns.tools import patient

DATA = Path(__file__).with_name("picomatch.json")


@cache
def recorded() -> dict[str, Any]:
    return json.loads(DATA.read_text(encoding="utf-8"))


def expected(row: list[Any]) -> int:
    """The names that Assent matches: picomatch's answer, but the other way round where a reason says so."""
    mask = int(row[1], 16)
    for reason in row[2].values():
        mask ^= int(reason, 16)
    return mask


def matched(pattern: str) -> int:
    glob = compile_glob(pattern)
    return sum(1 << at for at, name in enumerate(recorded()["names"]) if glob.matches(name))


@pytest.mark.spec("R-PAT-3")
def test_every_recorded_pair_is_answered_as_by_picomatch_or_as_its_reason_says() -> None:
    rows = recorded()["rows"]
    assert recorded()["picomatch"].startswith("4.")
    assert len(rows) * len(recorded()["names"]) > 100_000
    wrong = [row[0] for row in rows if matched(row[0]) != expected(row)]
    assert wrong == []


def test_every_difference_has_a_reason_and_every_reason_a_difference() -> None:
    used = {name for row in recorded()["rows"] for name in row[2]}
    assert used == set(recorded()["reasons"])
    assert all(len(why) > 40 for why in recorded()["reasons"].values())
    pairs = sum(int(mask, 16).bit_count() for row in recorded()["rows"] for mask in row[2].values())
    assert pairs < 0.01 * len(recorded()["rows"]) * len(recorded()["names"])


def test_no_reason_speaks_of_a_pair_twice() -> None:
    for row in recorded()["rows"]:
        masks = [int(mask, 16) for mask in row[2].values()]
        assert sum(masks) == sum(1 << at for at in range(256) if any(mask >> at & 1 for mask in masks)), row[0]


def test_what_cannot_be_meant_is_refused_not_guessed() -> None:
    for pattern, problem in recorded()["refused"].items():
        with pytest.raises(PatternError) as caught:
            compile_glob(pattern)
        assert caught.value.problem == problem


@pytest.mark.spec("R-PAT-3")
@patient
@given(st.data())
def test_drawn_lists_of_recorded_patterns_match_what_one_of_them_matches(data: st.DataObject) -> None:
    rows = [row for row in recorded()["rows"] if not set(row[0]) & set("{}[]\\,")]
    chosen = data.draw(st.lists(st.sampled_from(rows), min_size=2, max_size=6))
    at = data.draw(st.integers(0, len(recorded()["names"]) - 1))
    name = recorded()["names"][at]
    either = compile_glob("{" + ",".join(row[0] for row in chosen) + "}")
    one_does = any(expected(row) >> at & 1 for row in chosen)
    assert either.matches(name) == (name == either.text or one_does)


@pytest.mark.spec("R-PAT-3")
@patient
@given(st.data())
def test_an_escaped_recorded_name_matches_itself_and_no_other_recorded_name(data: st.DataObject) -> None:
    names = [name for name in recorded()["names"] if name]
    name, other = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    escaped = "".join("\\" + letter for letter in name)
    assert compile_glob(escaped).matches(other) == (other in {name, escaped})

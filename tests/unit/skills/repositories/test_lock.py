"""``skills.lock``: the same text for the same set, and nothing of another form is believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from desktop.skills.repositories.lock import LockedSource, LockRefused, Taken, lock_text, read_lock

COMMIT, DIGEST = "a" * 40, "b" * 64
TIDE = Taken("skill", "tide-fit", "tide-fit/SKILL.md", COMMIT, DIGEST, 1.0)
SHIP = Taken("server", "ship-tracks", ".mcp.json", COMMIT, DIGEST, 1.0)
ADDRESS = "https://git.harbour.example/gauge-skills"
LOCKED = LockedSource("gauge-skills", ADDRESS, (TIDE, SHIP))


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    data = json.loads(lock_text([LOCKED]))
    change(data)
    return json.dumps(data).encode()


def test_what_is_written_is_read_again_and_is_the_same_in_any_order() -> None:
    other = LockedSource("office", "git@git.harbour.example:office.git", (TIDE,))
    text = lock_text([other, LOCKED])
    assert text == lock_text([LockedSource(LOCKED.name, LOCKED.address, (SHIP, TIDE)), other])
    found = read_lock(text.encode())
    assert [(one.name, one.address, {t.name for t in one.taken}) for one in found] == [
        ("gauge-skills", ADDRESS, {"tide-fit", "ship-tracks"}),
        ("office", "git@git.harbour.example:office.git", {"tide-fit"}),
    ]
    assert found[0].taken[1].digest == DIGEST


def test_a_repository_of_which_nothing_was_taken_does_not_stand_in_it() -> None:
    assert read_lock(lock_text([LockedSource("empty", ADDRESS, ())]).encode()) == ()


def first(data: dict[str, Any]) -> dict[str, Any]:
    taken: dict[str, Any] = data["sources"][0]["taken"][1]
    return taken


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b" " * 5_000_000,
        changed(lambda data: data.update(format=2)),
        changed(lambda data: data.update(format="1")),
        changed(lambda data: data.update(sources={})),
        changed(lambda data: data.update(sources=data["sources"] * 2)),
        changed(lambda data: data.update(sources=[1])),
        changed(lambda data: data["sources"][0].update(name="../x")),
        changed(lambda data: data["sources"][0].update(address="/home/ida/skills")),
        changed(lambda data: data["sources"][0].update(address="file:///home/ida/skills")),
        changed(lambda data: data["sources"][0].update(address="C:\\skills")),
        changed(lambda data: data["sources"][0].update(address="https://ida:secret@git.harbour.example/x")),
        changed(lambda data: data["sources"][0].update(address="ext::sh -c touch")),
        changed(lambda data: data["sources"][0].pop("taken")),
        changed(lambda data: data["sources"][0]["taken"].append(first(data))),
        changed(lambda data: first(data).update(name="../../x")),
        changed(lambda data: first(data).update(commit="HEAD")),
        changed(lambda data: first(data).update(commit="--upload-pack=x")),
        changed(lambda data: first(data).update(sha256="b" * 63)),
        changed(lambda data: first(data).update(kind="hook")),
        changed(lambda data: first(data).update(path=1)),
    ],
)
def test_a_file_of_another_form_is_refused_as_a_whole(data: bytes) -> None:
    with pytest.raises(LockRefused) as refused:
        read_lock(data)
    assert "secret" not in refused.value.advice

"""What was decided for the rest of a run: it counts for that run, until it is over."""

import pytest

from desktop.safety.permission.digest import MAX_RUNS, RunMemory

WRITE = ("write-file", "builtin", "/w/a.txt", "")


@pytest.mark.spec("R-PRM-3")
def test_what_was_allowed_for_a_run_counts_for_it_alone_and_only_until_it_is_over() -> None:
    memory = RunMemory()
    memory.allow("run", WRITE, with_network=True)
    assert memory.allows("run", WRITE)
    assert memory.with_network("run", WRITE)
    assert not memory.allows("other", WRITE)
    memory.forget("run")
    assert not memory.allows("run", WRITE)
    assert not memory.with_network("run", WRITE)


@pytest.mark.spec("R-PRM-8")
def test_who_denies_all_of_a_run_takes_back_what_was_allowed_in_it_until_it_is_over() -> None:
    memory = RunMemory()
    memory.allow("run", WRITE)
    memory.deny("run")
    assert memory.denied("run")
    assert not memory.denied("other")
    assert not memory.allows("run", WRITE)
    memory.forget("run")
    assert not memory.denied("run")
    memory.forget("never seen")


@pytest.mark.spec("R-PRM-3")
def test_of_very_many_runs_those_that_were_allowed_something_last_are_remembered() -> None:
    memory = RunMemory()
    for number in range(MAX_RUNS):
        memory.allow(f"run-{number}", WRITE)
    memory.allow("run-0", WRITE)
    memory.allow("one more", WRITE)
    assert memory.allows("run-0", WRITE)
    assert memory.allows("one more", WRITE)
    assert memory.allows("run-2", WRITE)
    assert not memory.allows("run-1", WRITE)

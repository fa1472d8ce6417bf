"""A message to a persistent agent that was taken is heard after kill -9, and once."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def lived(folder: Path, whose: str, answers: list[str], posts: list[str]) -> Any:
    """A process of its own; what it tells, or None where it was killed."""
    command = [sys.executable, "-m", "tests.end2end.inbox_life", str(folder), whose]
    done = subprocess.run(
        [*command, json.dumps(answers), json.dumps(posts)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    if posts:
        assert done.returncode == -signal.SIGKILL, done.stderr
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rows(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "assent.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM queue").fetchone()[0])


@pytest.mark.spec("R-PER-6", "R-JRN-2")
def test_a_skills_agent_hears_it_after_each_of_two_kills_as_if_there_had_been_none(tmp_path: Path) -> None:
    lived(tmp_path, "skill", ["I watch.", "I heard A."], ["A", "B"])
    lived(tmp_path, "skill", ["I heard B."], ["C"])
    asked, _ = lived(tmp_path, "skill", ["I heard C."], [])
    assert len(asked) == 1, "what was answered before is not asked again"
    assert asked[0][1:] == ["I watch.", "A", "I heard A.", "B", "I heard B.", "C"]
    assert rows(tmp_path) == 0, "with the run its inbox goes"


@pytest.mark.spec("R-PER-6")
def test_the_agent_of_a_chat_hears_what_another_posted_after_the_kill(tmp_path: Path) -> None:
    lived(tmp_path, "chat", ["One.", "I heard A."], ["A", "B"])
    asked, empty = lived(tmp_path, "chat", ["I go on.", "I heard B."], [])
    heard = [text for text in asked[-1] if "From this chat's inbox" in text]
    assert [text[-1] for text in heard] == ["A", "B"]
    assert empty


@pytest.mark.parametrize("first_on", ["keeper", "poster"])
@pytest.mark.spec("R-PER-6", "R-JRN-2")
def test_what_an_agent_posted_right_before_the_kill_is_heard_once_though_it_posts_it_again(
    tmp_path: Path, first_on: str
) -> None:
    command = [sys.executable, "-m", "tests.end2end.poster_life", str(tmp_path), first_on]
    killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert rows(tmp_path) == 1, "it was kept"
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["PAY 10", "THE END"]

"""The hook for subjects of commits, as git runs it in a repository that uses it."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FULL = "ä" * 72


def committed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    hooks = f"core.hooksPath={ROOT / 'packaging/hooks'}"
    settings = [part for one in (hooks, "user.name=x", "user.email=x@y") for part in ("-c", one)]
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    command = ["git", *settings, "commit", "--allow-empty", "-q", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def subjects(folder: Path) -> str:
    done = subprocess.run(
        ["git", "log", "--all", "--format=%s"], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("words", [("-m", FULL), ("-m", FULL, "-m", "x" * 200), ("-m", f"fixup! {FULL}")])
def test_a_subject_of_72_characters_and_any_text_below_it_are_taken(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = committed(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert subjects(tmp_path) == words[1]


def test_a_longer_subject_is_refused_and_the_message_says_by_how_much(tmp_path: Path) -> None:
    done = committed(tmp_path, "-m", f"{FULL}x")
    assert done.returncode != 0
    assert "73 characters, 1 over 72" in done.stderr
    assert subjects(tmp_path) == ""


def test_a_comment_above_the_subject_does_not_count(tmp_path: Path) -> None:
    message = tmp_path / "message"
    message.write_text(f"# {'x' * 90}\n\nShort.\n")
    assert committed(tmp_path, "-F", str(message), "--cleanup=strip").returncode == 0
    assert subjects(tmp_path) == "Short."

"""What a .gitignore leaves out, as git itself sees it."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.workers.file_search.globs import braces
from desktop.workers.file_search.ignoring import GlobList, WantedPaths
from desktop.workers.file_search.walking import SearchGround, TreeWalk

ENVIRONMENT = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": "/"}
NAMES = ["a", "b", "ab", "a.py", "b.log", "[x]", "A", "é", " s", "#c", "!d", "a b"]
PATHS = [f"{one}/{two}/{three}" for one in ("a", "b", "src") for two in ("a", "b.log", "x") for three in NAMES]
PATHS += [f"top/{name}" for name in NAMES] + NAMES[2:]
PIECES = [
    "a",
    "b",
    "ab",
    "src",
    "x",
    "top",
    "*",
    "**",
    "?",
    "/",
    ".log",
    ".py",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[]a]",
]
PIECES += ["[[:alpha:]]", "[[:nope:]]", "\\", "!", "#", " ", "é", "[", "]", "{", "A", "[.-0]", "[a", "\\*", "\\ "]
LINES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)
IGNORES = st.dictionaries(st.sampled_from(["", "a", "src", "a/a"]), st.lists(LINES, max_size=4), max_size=3)


def made(root: Path) -> Path:
    for path in PATHS:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    subprocess.run(["git", "init", "-q", root], check=True, env=ENVIRONMENT)
    return root


def by_git(root: Path) -> set[str]:
    asked = ["git", "-C", str(root), "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"]
    said = subprocess.run(asked, check=True, env=ENVIRONMENT, capture_output=True)
    return {os.fsdecode(name) for name in said.stdout.split(b"\0") if name}


def ground(root: Path, *, top: Path | None = None, ignored: bool = False) -> SearchGround:
    return SearchGround(str(root), str(top or root), {}, frozenset(), ignored, GlobList(()))


def by_us(root: Path, *, top: Path | None = None, ignored: bool = False) -> set[str]:
    walk = TreeWalk(ground(root, top=top, ignored=ignored))
    return {entry.path for batch in walk.batches() for entry in batch if not entry.is_folder}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("tree"))


@pytest.mark.spec("R-EDT-2")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(ignores=IGNORES)
def test_the_same_files_are_left_out_as_by_git(tree: Path, ignores: dict[str, list[str]]) -> None:
    for folder in ("", "a", "src", "a/a"):
        place = tree / folder / ".gitignore"
        if folder in ignores:
            place.write_text("\n".join(ignores[folder]) + "\n")
        else:
            place.unlink(missing_ok=True)
    assert by_us(tree) == by_git(tree)


@pytest.mark.spec("R-EDT-2")
def test_what_a_folder_above_says_counts_below_it_too_and_all_can_be_had(tmp_path: Path) -> None:
    root = made(tmp_path)
    (root / ".gitignore").write_bytes(b"\xef\xbb\xbf*.log\r\n/src/x/\r\n!keep.log\r\n")
    (root / "src" / ".gitignore").write_text("!b.log\n")
    (root / "src" / "keep.log").write_text("x")
    whole = by_us(root)
    below = {path.removeprefix("src/") for path in whole if path.startswith("src/")}
    assert by_us(root / "src", top=root) == below
    assert "keep.log" in below
    assert not any(path.startswith("x/") for path in below)
    assert "x/a" in by_us(root / "src", top=root / "src")  # nothing above what is allowed is read
    assert "src/x/a" in by_us(root, ignored=True)


def test_folders_of_version_control_are_no_files_of_the_person(tmp_path: Path) -> None:
    root = made(tmp_path)
    (root / "a" / ".hg").mkdir()
    (root / "a" / ".hg" / "store").write_text("x")
    assert not any(part in (".git", ".hg") for path in by_us(root, ignored=True) for part in path.split("/"))


@pytest.mark.parametrize(
    ("globs", "taken", "left"),
    [
        (["*.py"], ["a.py", "x/y/a.py"], ["a.pyc", "a.py/b"]),
        (["src/**"], ["src/a", "src/b/c"], ["a/src/b", "src"]),
        (["**/test_*.py"], ["test_a.py", "x/test_a.py"], ["x/a.py"]),
        (["/a.py"], ["a.py"], ["x/a.py"]),
        (["*.{ts,tsx}"], ["a.ts", "x/a.tsx"], ["a.js"]),
        (["!*.min.js"], ["a.js"], ["x/a.min.js"]),
        (["*.js", "!*.min.js"], ["a.js"], ["a.min.js", "a.py"]),
        (["./src/*.c"], ["src/a.c"], ["src/b/a.c"]),
        ([], ["anything"], []),
        (["["], [], ["["]),
    ],
)
def test_globs_choose_files(globs: list[str], taken: list[str], left: list[str]) -> None:
    wanted = WantedPaths(globs)
    assert [path for path in taken if not wanted.takes(path)] == []
    assert [path for path in left if wanted.takes(path)] == []


def test_braces_that_would_be_too_many_or_are_no_pairs_stay_as_they_are() -> None:
    assert braces("{a,b}{c,d}") == ["ac", "ad", "bc", "bd"]
    assert braces("{a") == ["{a"]
    assert braces("{a}") == ["{a}"]
    assert braces(r"\{a,b}") == [r"\{a,b}"]
    assert braces("{a,{b,c}}x") == ["ax", "bx", "cx"]
    many = "{a,b}" * 20
    assert braces(many) == [many]


def test_lines_made_to_explode_take_no_time(tmp_path: Path) -> None:
    (tmp_path / ("a" * 200)).write_text("x")
    (tmp_path / ".gitignore").write_text("*a" * 60 + "b\n" + "**/" * 100 + "z\n" + "[a-z]*" * 50 + "9\n")
    assert by_us(tmp_path) == {"a" * 200, ".gitignore"}


def test_a_line_about_folders_says_nothing_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "f").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "build").write_text("x")
    (tmp_path / ".gitignore").write_text("build/\n")
    assert by_us(tmp_path) == {".gitignore", "sub/build"}

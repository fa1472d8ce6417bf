"""`dev.py test --changed` finds the tests that a change can touch at first hand, and no others."""

import subprocess
import sys
from pathlib import Path

import pytest
from devlib.changed import COSTS, affordable, changed_files, costs, counted, described, touched
from devlib.environment import ROOT

FILES = {
    "desktop/services/rules/text.py": "",
    "desktop/store/rules.py": "",
    "skills/agent/agent.skill.py": "",
    "tests/unit/services/kit.py": "from desktop.store import rules\n",
    "tests/unit/services/conftest.py": "",
    "tests/unit/services/rules/test_text.py": "",
    "tests/unit/services/test_chats.py": "from tests.unit.services.kit import world\n",
    "tests/unit/services/data.json": "",
    "tests/unit/store/test_rules.py": "from desktop.store.rules import Rules\n",
    "tests/unit/library/test_agent.py": "",
    "tests/gui/debates/test_page.py": "",
    "tests/gui/test_other.py": "from shots import pages\n",
    "tests/architecture/test_documents.py": "",
}
TOUCHED = {
    "desktop/services/rules/text.py": ["tests/unit/services/rules/test_text.py"],
    "desktop/store/rules.py": ["tests/unit/store/test_rules.py", "tests/unit/services/test_chats.py"],
    "tests/unit/services/kit.py": ["tests/unit/services/test_chats.py"],
    "tests/unit/services/conftest.py": ["tests/unit/services/rules/test_text.py", "tests/unit/services/test_chats.py"],
    "tests/unit/services/data.json": ["tests/unit/services/rules/test_text.py", "tests/unit/services/test_chats.py"],
    "tests/gui/test_other.py": ["tests/gui/test_other.py"],
    "skills/agent/agent.skill.py": ["tests/unit/library/test_agent.py"],
    "packaging/shots/pages.py": ["tests/gui/test_other.py", "tests/architecture/test_documents.py"],
    "README.md": ["tests/architecture/test_documents.py"],
    "desktop/services/rules/deep/words.py": ["tests/unit/services/rules/test_text.py"],
    "desktop/ui/debates/page.py": ["tests/gui/debates/test_page.py"],
    "desktop/ui/theme/words.py": [],
    "desktop/app/gone.py": [],
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("changed", TOUCHED)
def test_a_change_touches_what_imports_it_and_what_stands_where_it_stands(changed: str, tree: Path) -> None:
    assert touched([changed], tree) == TOUCHED[changed]


def test_what_git_does_not_know_yet_has_changed_too(tree: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=tree, check=True)

    git("init", "-q")
    git("add", "desktop")
    git("commit", "-q", "-m", "x")
    (tree / "desktop/store/rules.py").write_text("x = 1\n")
    assert {"desktop/store/rules.py", "tests/unit/store/test_rules.py"} <= set(changed_files(root=tree))
    assert "desktop/services/rules/text.py" not in changed_files(root=tree)


def test_the_nearest_tests_come_first(tree: Path) -> None:
    (tree / "tests/unit/store/test_else.py").touch()
    (tree / "tests/gui/test_rules.py").write_text("import desktop.store.rules\n")
    assert touched(["desktop/store/rules.py", "tests/gui/test_other.py"], tree) == [
        "tests/gui/test_other.py",
        "tests/unit/store/test_rules.py",
        "tests/gui/test_rules.py",
        "tests/unit/store/test_else.py",
        "tests/unit/services/test_chats.py",
    ]


def test_of_more_than_a_minute_the_first_are_chosen_and_the_others_named() -> None:
    known = {"tests/a/test_1.py": 20.0, "tests/a/test_2.py": 20.0, "tests/a/b/test_3.py": 9.0}
    chosen, left = affordable([*known, "tests/a/test_new.py"], known, most_s=30.0)
    assert chosen == ["tests/a/test_1.py", "tests/a/b/test_3.py"]
    assert left == ["tests/a/test_2.py", "tests/a/test_new.py"]
    assert counted(left) == "tests/a 2"


def test_what_is_run_and_what_is_not_is_told() -> None:
    far = "not looked at: tests that reach it only through other modules. The whole suite has them"
    assert described(["tests/a/test_1.py"], ["tests/b/test_2.py"], "HEAD") == [
        "1 of 2 test files that what differs from HEAD can touch at first hand",
        "left out, for they take longer than a minute: tests/b 1",
        far,
    ]
    assert described(["tests/a/test_1.py"], [], "main") == [
        "1 of 1 test files that what differs from main can touch at first hand",
        far,
    ]


def test_what_changed_itself_is_chosen_whatever_it_takes_and_one_test_at_least() -> None:
    slow = {"tests/test_1.py": 90.0, "tests/test_2.py": 90.0}
    assert affordable(list(slow), slow, sure=["tests/test_2.py"])[1] == []
    assert affordable(list(slow), slow) == (["tests/test_1.py"], ["tests/test_2.py"])


def test_what_a_file_of_tests_takes_is_remembered_where_all_of_it_ran(tmp_path: Path) -> None:
    burn = "import time\ndef burn():\n    end = time.process_time() + 0.3\n    while time.process_time() < end: pass\n"
    (tmp_path / "test_one.py").write_text(f"{burn}def test_a():\n    burn()\ndef test_b():\n    burn()\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", f"--rootdir={tmp_path}", "-c", "x.ini"]
    (tmp_path / "x.ini").touch()
    for part in (["-k", "test_a"], ["test_one.py::test_a"]):
        subprocess.run([*command, *part], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True)
        assert costs(tmp_path) == {}
    subprocess.run([*command, "test_one.py"], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True)
    assert list(costs(tmp_path)) == ["test_one.py"]
    assert costs(tmp_path)["test_one.py"] >= 0.6
    (tmp_path / COSTS).write_text("{")
    assert costs(tmp_path) == {}

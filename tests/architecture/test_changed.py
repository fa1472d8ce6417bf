"""`dev.py test --changed` finds the tests that a change can touch at first hand, and no others."""

import subprocess
from pathlib import Path

import pytest
from devlib.changed import changed_files, touched

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
    "tests/gui/test_other.py": "",
    "tests/architecture/test_documents.py": "",
}
TOUCHED = {
    "desktop/services/rules/text.py": ["tests/unit/services/rules/test_text.py"],
    "desktop/store/rules.py": ["tests/unit/services/test_chats.py", "tests/unit/store/test_rules.py"],
    "tests/unit/services/kit.py": ["tests/unit/services/test_chats.py"],
    "tests/unit/services/conftest.py": ["tests/unit/services/rules/test_text.py", "tests/unit/services/test_chats.py"],
    "tests/unit/services/data.json": ["tests/unit/services/rules/test_text.py", "tests/unit/services/test_chats.py"],
    "tests/gui/test_other.py": ["tests/gui/test_other.py"],
    "skills/agent/agent.skill.py": ["tests/unit/library/test_agent.py"],
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

"""The documents lead where they say, stay short enough to be read, and show nothing that no test runs."""

import re
from pathlib import Path

import pytest

from tests.architecture import document_rules, rules
from tests.harness.help_pages import HELP, samples

ROOT = Path(__file__).resolve().parents[2]
FOR_DEVELOPERS = ("README.md", "CONTRIBUTING.md", "desktop/ARCHITECTURE.md")
MAX_LINES = {"README.md": 150, "desktop/ARCHITECTURE.md": 250}
RUN_BY = {
    "activity-log": ("tests/unit/store/test_audit_reading.py", 1),
    "agents": ("tests/unit/library/test_help_pages.py", 1),
    "editors": ("tests/end2end/test_acp.py", 3),
    "installing": ("tests/end2end/test_start_check.py", 1),
    "mcp": ("tests/unit/tools/mcp/test_definitions.py", 1),
    "models-and-providers": ("tests/unit/library/test_help_pages.py", 2),
    "other-apps": ("tests/end2end/test_mcp_server.py", 2),
    "rules": ("tests/unit/services/rules/test_help_page.py", 1),
    "skills": ("tests/unit/library/test_help_pages.py", 3),
    "tools": ("tests/unit/library/test_help_pages.py", 2),
}
"""The test that runs the samples of a page, and how many it runs."""


def documents() -> dict[str, str]:
    top = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    paths = [*top, *(ROOT / "desktop").rglob("*.md"), *HELP.glob("*.md")]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def holds(found: list[str]) -> None:
    assert not found, "\n" + "\n".join(found)


def test_every_relative_link_leads_to_a_file() -> None:
    holds(document_rules.dead_links(ROOT, documents()))


def test_the_paths_that_developers_are_told_exist() -> None:
    texts = documents()
    holds(document_rules.dead_paths(ROOT, {name: texts[name] for name in FOR_DEVELOPERS}))


def test_the_modules_in_the_pictures_exist() -> None:
    """There a path begins below desktop/."""
    text = documents()["desktop/ARCHITECTURE.md"]
    named = set(re.findall(r"(?<![\w/])((?:[a-z_]+/)+[a-z_]+\.py)\b", text))
    assert len(named) > 50
    holds(sorted(name for name in named if not any((ROOT / top / name).exists() for top in ("", "desktop"))))


def test_the_modules_that_a_room_names_exist() -> None:
    """There a path begins in the room, in one of its folders, or below desktop/."""
    readmes = {name: text for name, text in documents().items() if name.endswith("/README.md")}
    assert len(readmes) > 10
    holds(
        [f"{name}: {path}" for name, text in readmes.items() for path in document_rules.dead_modules(ROOT, name, text)]
    )


def test_a_module_that_is_gone_is_found(tmp_path: Path) -> None:
    (tmp_path / "desktop/ui/chat").mkdir(parents=True)
    (tmp_path / "desktop/ui/chat/page.py").touch()
    text = "`page.py`, `chat/page.py`, `ui/chat/page.py`, `desktop/ui/chat/page.py`, `NAME_child.py`, `gone.py`"
    assert document_rules.dead_modules(tmp_path, "desktop/ui/README.md", text) == ["gone.py"]


def test_the_names_that_a_document_says_are_in_a_module_are_there() -> None:
    texts = {name: text for name, text in documents().items() if not name.startswith("resources/")}
    assert sum(len(document_rules.NAME_IN_MODULE.findall(text)) for text in texts.values()) > 60
    holds([f"{name}: {found}" for name, text in texts.items() for found in document_rules.dead_names(ROOT, name, text)])


def test_a_name_that_is_not_in_its_module_is_found(tmp_path: Path) -> None:
    (tmp_path / "desktop/ui/chat").mkdir(parents=True)
    (tmp_path / "desktop/ui/chat/page.py").write_text("ROWS = ()\n\n\nclass Page:\n    size = 1\n")
    text = "`ROWS` and `GONE` in `page.py`; `Page.size` (`chat/page.py`); a field `size`\nof `desktop/ui/chat/page.py`."
    text += " `page.py` (the class `Page`, with its `size`)"
    assert document_rules.dead_names(tmp_path, "desktop/ui/README.md", text) == ["GONE is not in page.py"]
    wrong = ["`ROW` in `page.py`", "`Page.gone` (`page.py`)", "of `X`\nin `ui/chat/page.py`", "`ROWS` of `a.py`"]
    for gone in [*wrong, "`page.py` (the `ROW`)"]:
        assert len(document_rules.dead_names(tmp_path, "desktop/ui/README.md", gone)) == 1, gone


@pytest.mark.parametrize("folder", ["desktop/domain", "desktop/agents/skill"])
def test_a_room_that_lists_its_modules_names_each_of_them(folder: str) -> None:
    texts = documents()
    readme = next(text for name, text in texts.items() if name == "/".join([*folder.split("/")[:2], "README.md"]))
    holds(document_rules.unnamed_modules(ROOT / folder, readme))


def test_a_module_that_is_not_named_is_found(tmp_path: Path) -> None:
    for name in ("__init__.py", "page.py", "rows.py"):
        (tmp_path / name).touch()
    assert document_rules.unnamed_modules(tmp_path, "`page.py` and rows.py") == ["rows.py"]
    assert document_rules.unnamed_modules(tmp_path, "`chat/page.py`, `rows.py`") == []


def test_the_signals_that_a_docstring_names_are_in_its_module() -> None:
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / "desktop").rglob("*.py")}
    holds(document_rules.gone_signals(sources))
    source = '"""``a_wanted`` by Return, ``b_wanted`` by Tab."""\na_wanted = Signal()\n'
    assert document_rules.gone_signals({"x.py": source}) == ["x.py: b_wanted is not there"]


def test_no_line_of_a_document_is_longer_than_a_line_of_code() -> None:
    holds(document_rules.long_lines(documents()))
    texts = {"A.md": f"{'x' * 121}\n{'x' * 122}\n| {'x' * 122} |\n```\n{'x' * 122}\n```\n"}
    assert document_rules.long_lines(texts) == ["A.md:2: 122 characters"]


def test_no_index_address_in_them() -> None:
    holds(rules.index_addresses(documents()))


@pytest.mark.parametrize("name", MAX_LINES)
def test_what_is_read_first_is_short(name: str) -> None:
    assert documents()[name].count("\n") <= MAX_LINES[name]


def test_the_readme_leads_to_every_page_for_users() -> None:
    linked = set(document_rules.LINK.findall(documents()["README.md"]))
    assert {f"resources/help/{path.name}" for path in HELP.glob("*.md")} <= linked


def test_every_sample_of_a_page_is_run_by_a_test() -> None:
    shown = {path.stem: len(samples(path.stem, r"\w*")) for path in HELP.glob("*.md")}
    assert {name: count for name, count in shown.items() if count} == {name: n for name, (_, n) in RUN_BY.items()}
    for name, (test, _) in RUN_BY.items():
        assert f'samples("{name}"' in (ROOT / test).read_text("utf-8"), test


def test_a_dead_link_and_a_path_that_is_gone_are_found(tmp_path: Path) -> None:
    (tmp_path / "desktop/ui").mkdir(parents=True)
    fine = "[ui](ui) [far](https://example.org/x) [here](#ui) `desktop/ui` `desktop/<room>/x.md`\n```\n[a](b)\n```\n"
    bad = "[gone](../gone.md) and `desktop/gone.py`\n"
    texts = {"desktop/A.md": fine + bad}
    assert document_rules.dead_links(tmp_path, texts) == ["desktop/A.md:5: ../gone.md leads nowhere"]
    assert document_rules.dead_paths(tmp_path, texts) == ["desktop/A.md:5: desktop/gone.py does not exist"]

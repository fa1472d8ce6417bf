"""The house rules hold on our sources, and each rule finds the violation that it is there for."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from desktop.domain.tools import ToolSpec
from desktop.tools.builtin.catalogue import BUILT_IN
from tests.architecture import reviewed, rules
from tests.architecture.rules import Source

ROOT = Path(__file__).resolve().parents[2]
TOOL_NAMES = frozenset(name for spec in BUILT_IN.values() for name in (spec.name, spec.provider_name))
OURS = rules.sources(ROOT, "desktop")
EVERYTHING = [*OURS, *rules.sources(ROOT, "skills", "tests", "packaging")]


def holds(found: list[str]) -> None:
    assert not found, "\n" + "\n".join(found)


def test_files_functions_and_classes_stay_within_their_sizes() -> None:
    holds(rules.too_long(EVERYTHING, reviewed.LONG))


def test_functions_are_short_on_the_whole() -> None:
    holds(rules.distribution(OURS))


def test_a_folder_holds_no_more_modules_than_one_finds_ones_way_in() -> None:
    holds(rules.crowded(OURS, reviewed.CROWDED))


def test_no_module_says_the_name_of_its_folder_again() -> None:
    holds(rules.named_for_their_folder(OURS, reviewed.SAME_NAME))


def test_nothing_below_the_presenter_imports_qt() -> None:
    holds(rules.qt_below_presenter(OURS))


def test_no_import_inside_a_function() -> None:
    holds(rules.import_in_function([file for file in OURS if file.name not in reviewed.LATE_IMPORTS]))


def test_dataclasses_compile_their_methods_when_they_are_used() -> None:
    holds(rules.eager_dataclasses(OURS))


def test_tasks_have_one_owner() -> None:
    holds(rules.unowned_tasks(OURS, reviewed.TASK_OWNERS))


def test_every_class_name_has_one_owner() -> None:
    holds(rules.names_with_several_owners(OURS))


def test_each_field_of_a_large_record_is_explained() -> None:
    holds(rules.unexplained_fields(OURS))


def test_a_lazy_module_is_the_one_that_mypy_looks_into() -> None:
    holds(rules.lazy_modules_unlike_their_types(OURS))


def test_no_modules_import_each_other_not_even_for_types() -> None:
    holds(rules.import_circles(OURS))


def test_a_built_in_tool_is_named_in_its_own_module_alone() -> None:
    holds(rules.tools_by_name([file for file in OURS if file.name not in reviewed.TOOL_NAMES], TOOL_NAMES))


def test_every_built_in_tool_is_in_the_list_of_them() -> None:
    assert {id(spec) for spec in BUILT_IN.values()} == {
        id(found)
        for file in (ROOT / "desktop/tools/builtin").glob("*.py")
        for found in vars(import_module(f"desktop.tools.builtin.{file.stem}")).values()
        if isinstance(found, ToolSpec)
    }
    written = [file for file in OURS if file.name.startswith("desktop/tools/builtin/")]
    made = [node for file in written for node in file.find(ast.Call) if rules.last_name(node.func) == "ToolSpec"]
    assert len(made) == len(BUILT_IN), "one is written where no module shows it"


def test_no_cancellation_is_lost_on_the_way() -> None:
    holds(rules.loses_cancellation(OURS))


def test_no_modal_dialog_and_no_pumping_of_events() -> None:
    holds(rules.modal_or_pumping([file for file in OURS if file.name not in reviewed.EXEC_CALLS]))


def test_exceptions_are_caught_broadly_only_at_reviewed_boundaries() -> None:
    holds(rules.broad_except(OURS, reviewed.BROAD_EXCEPTS))


def test_no_colour_outside_the_theme() -> None:
    holds(rules.hard_coloured(OURS))


def test_no_widget_is_a_window_for_a_moment() -> None:
    holds(rules.shown_without_parent(OURS))


def test_no_index_address_in_locks_and_documents() -> None:
    files = [*(ROOT / "packaging").rglob("*"), *ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / ".ci/run"]
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in files
        if path.suffix in {".lock", ".in", ".md", ".toml", ".py", ".sh", ".txt"} or path.parent.name == ".ci"
    }
    assert "packaging/requirements.lock" in texts
    holds(rules.index_addresses(texts))


def test_nothing_lies_at_the_top_but_what_belongs_there() -> None:
    made_by_tools = {"build", "dist", "assent.egg-info", "__pycache__"}
    holds(rules.top_level({path.name for path in ROOT.iterdir()} - made_by_tools))


def test_reviewed_exceptions_are_still_needed() -> None:
    tables: dict[Callable[[list[Source]], list[str]], dict[str, str]] = {
        lambda files: rules.unowned_tasks(files, {}): reviewed.TASK_OWNERS,
        rules.modal_or_pumping: reviewed.EXEC_CALLS,
        rules.import_in_function: reviewed.LATE_IMPORTS,
        lambda files: rules.named_for_their_folder(files, {}): reviewed.SAME_NAME,
        lambda files: rules.tools_by_name(files, TOOL_NAMES): reviewed.TOOL_NAMES,
    }
    holds(
        [
            f"{folder} needs no exception"
            for folder in reviewed.CROWDED
            if not any(found.startswith(f"{folder}:") for found in rules.crowded(OURS, {}))
        ]
    )
    files = {file.name: file for file in OURS}
    holds(
        [
            f"{name} needs no exception"
            for rule, table in tables.items()
            for name in table
            if name not in files or not rule([files[name]])
        ]
    )
    for name, count in reviewed.BROAD_EXCEPTS.items():
        assert name in files, f"{name} does not exist"
        assert rules.broad_except([files[name]], {name: count - 1}), f"{name} needs fewer broad excepts than {count}"


# ------------------------------------------------------------------------------- each rule against what it should find

FORMATTER_OFF = "# fmt: " + "skip"
LARGE_RECORD = "@dataclass(frozen=True)\nclass A:\n" + "".join(f"    {name}: int\n" for name in "abcdefg")
LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 61
VIOLATIONS: list[tuple[str, Callable[[list[Source]], list[str]], str, str]] = [
    ("crowded", lambda _: rules.crowded([Source(f"desktop/ui/x/m{n}.py", "") for n in range(21)], {}), "x", ""),
    ("named as its folder", partial(rules.named_for_their_folder, reviewed={}), "desktop/ui/dialogs/dialogs.py", ""),
    (
        "named for its folder",
        partial(rules.named_for_their_folder, reviewed={}),
        "desktop/ui/dialogs/dialog_row.py",
        "",
    ),
    ("long file", partial(rules.too_long, reviewed={}), "desktop/store/x.py", "x = 1\n" * 501),
    ("long test", partial(rules.too_long, reviewed={}), "tests/unit/x.py", "x = 1\n" * 601),
    ("long function", partial(rules.too_long, reviewed={}), "desktop/store/x.py", LONG_FUNCTION),
    (
        "long method",
        partial(rules.too_long, reviewed={}),
        "desktop/store/x.py",
        "class A:\n    async def f(self):\n" + "        x = 1\n" * 61,
    ),
    ("long class", partial(rules.too_long, reviewed={}), "desktop/store/x.py", "class A:\n" + "    x = 1\n" * 301),
    ("long median", rules.distribution, "desktop/store/x.py", "def f():\n" + "    x = 1\n" * 9),
    (
        "circle for types",
        lambda files: rules.import_circles([*files, Source("desktop/domain/y.py", "import desktop.domain.x\n")]),
        "desktop/domain/x.py",
        "if TYPE_CHECKING:\n    from desktop.domain.y import Y\n",
    ),
    (
        "tool",
        lambda files: rules.tools_by_name(files, {"read-file", "read_file"}),
        "desktop/ui/x.py",
        "if tool == 'read_file':\n    pass\n",
    ),
    (
        "tool in a rule",
        lambda files: rules.tools_by_name(files, {"bash"}),
        "desktop/services/x.py",
        "rule = f'bash(command={command})'\n",
    ),
    ("qt", rules.qt_below_presenter, "desktop/agents/x.py", "from PySide6.QtCore import QObject\n"),
    ("qt in function", rules.qt_below_presenter, "desktop/agents/x.py", "def f():\n    import qasync\n"),
    ("dataclass", rules.eager_dataclasses, "desktop/ui/x.py", "from dataclasses import dataclass, field\n"),
    ("late import", rules.import_in_function, "desktop/ui/x.py", "def f():\n    import json\n"),
    ("literal import", rules.import_in_function, "desktop/ui/x.py", "def f():\n    importlib.import_module('json')\n"),
    ("task", lambda files: rules.unowned_tasks(files, {}), "desktop/ui/x.py", "asyncio.create_task(f())\n"),
    ("loop task", lambda files: rules.unowned_tasks(files, {}), "desktop/ui/x.py", "self._loop.create_task(f())\n"),
    ("future", lambda files: rules.unowned_tasks(files, {}), "desktop/ui/x.py", "asyncio.ensure_future(f())\n"),
    ("passed on", lambda files: rules.unowned_tasks(files, {}), "desktop/ui/x.py", "start(asyncio.create_task)\n"),
    ("imported", lambda files: rules.unowned_tasks(files, {}), "desktop/ui/x.py", "from asyncio import create_task\n"),
    (
        "two owners",
        lambda _: rules.names_with_several_owners(
            [Source("desktop/ui/x.py", "class A: ...\n"), Source("desktop/ui/y.py", "class A: ...\n")]
        ),
        "x",
        "",
    ),
    (
        "two private owners",
        lambda _: rules.names_with_several_owners(
            [Source("desktop/ui/x.py", "class _A: ...\n"), Source("desktop/store/y.py", "class _A: ...\n")]
        ),
        "x",
        "",
    ),
    (
        "nested",
        rules.names_with_several_owners,
        "desktop/ui/x.py",
        "class A:\n    class B: ...\n\n\nclass C:\n    class B: ...\n",
    ),
    ("large record", rules.unexplained_fields, "desktop/ui/x.py", LARGE_RECORD),
    (
        "lazy for another",
        rules.lazy_modules_unlike_their_types,
        "desktop/ui/x.py",
        "if TYPE_CHECKING:\n    from desktop.ui import y\nelse:\n    y = lazy_module('desktop.ui.z')\n",
    ),
    ("lazy untyped", rules.lazy_modules_unlike_their_types, "desktop/ui/x.py", "y = lazy_module('desktop.ui.y')\n"),
    ("lazy computed", rules.lazy_modules_unlike_their_types, "desktop/ui/x.py", "y = lazy_module(f'desktop.{y}')\n"),
    ("composed import", rules.import_in_function, "desktop/ui/x.py", "def f(n):\n    import_module(f'desktop.{n}')\n"),
    ("wait_for", rules.loses_cancellation, "desktop/ui/x.py", "await asyncio.wait_for(f(), 1)\n"),
    ("modal", rules.modal_or_pumping, "desktop/ui/x.py", "dialog.exec()\n"),
    ("pumping", rules.modal_or_pumping, "desktop/ui/x.py", "QApplication.processEvents()\n"),
    ("broad", lambda f: rules.broad_except(f, {}), "desktop/ui/x.py", "try:\n    f()\nexcept Exception:\n    pass\n"),
    ("bare", lambda f: rules.broad_except(f, {}), "desktop/ui/x.py", "try:\n    f()\nexcept:\n    pass\n"),
    (
        "in a tuple",
        lambda f: rules.broad_except(f, {}),
        "desktop/ui/x.py",
        "try:\n    f()\nexcept (OSError, BaseException):  # boundary: none\n    pass\n",
    ),
    (
        "no reason",
        lambda f: rules.broad_except(f, {"desktop/ui/x.py": 1}),
        "desktop/ui/x.py",
        "try:\n    f()\nexcept Exception:\n    pass\n",
    ),
    (
        "empty reason",
        lambda f: rules.broad_except(f, {"desktop/ui/x.py": 1}),
        "desktop/ui/x.py",
        "try:\n    f()\nexcept Exception:  # noqa: BLE001\n    pass\n",
    ),
    ("colour", rules.hard_coloured, "desktop/ui/x.py", "style = 'color: #ff00aa'\n"),
    ("rgb", rules.hard_coloured, "desktop/ui/chat/x.py", "style = f'color: rgba({r}, 2, 3)'\n"),
    ("QColor", rules.hard_coloured, "desktop/ui/x.py", "QColor(1, 2, 3)\n"),
    ("named colour", rules.hard_coloured, "desktop/ui/x.py", "Qt.GlobalColor.red\n"),
    (
        "window for a moment",
        rules.shown_without_parent,
        "desktop/ui/x.py",
        "def f(self, text):\n    self.a = Text(text)\n    self.a.setVisible(bool(text))\n    "
        "column.addWidget(self.a)\n",
    ),
    (
        "shown window",
        rules.shown_without_parent,
        "desktop/ui/x.py",
        "def f(row):\n    a = Button('x')\n    a.show()\n    row.addWidget(a)\n",
    ),
    (
        "index",
        lambda files: rules.index_addresses({files[0].name: files[0].text}),
        "packaging/r.lock",
        "--extra-index-url https://example.org/simple\n",
    ),
    (
        "index in a document",
        lambda files: rules.index_addresses({files[0].name: files[0].text}),
        "README.md",
        "see https://pypi.org/project/assent\n",
    ),
]

FINE: list[tuple[str, Callable[[list[Source]], list[str]], str, str]] = [
    ("full folder", lambda _: rules.crowded([Source(f"desktop/ui/x/m{n}.py", "") for n in range(20)], {}), "x", ""),
    ("other name", partial(rules.named_for_their_folder, reviewed={}), "desktop/ui/dialogs/scrolled_dialog.py", ""),
    ("full test", partial(rules.too_long, reviewed={}), "tests/unit/x.py", "x = 1\n" * 600),
    ("full file", partial(rules.too_long, reviewed={}), "desktop/store/x.py", "x = 1\n" * 500),
    ("full function", partial(rules.too_long, reviewed={}), "desktop/store/x.py", "def f():\n" + "    x = 1\n" * 59),
    (
        "docstring is free",
        partial(rules.too_long, reviewed={}),
        "desktop/store/x.py",
        'def f():\n    """A.\n' + "    b\n" * 70 + '    """\n    x = 1\n',
    ),
    ("qt in ui", rules.qt_below_presenter, "desktop/ui/x.py", "import PySide6\n"),
    ("field", rules.eager_dataclasses, "desktop/ui/x.py", "from dataclasses import field\n"),
    ("plugin", rules.import_in_function, "desktop/ui/x.py", "def f(name):\n    return import_module(name)\n"),
    ("group", lambda files: rules.unowned_tasks(files, {}), "desktop/ui/x.py", "group.create_task(f())\n"),
    (
        "owner",
        lambda files: rules.unowned_tasks(files, {"desktop/ui/x.py": "it"}),
        "desktop/ui/x.py",
        "asyncio.create_task(f())\n",
    ),
    (
        "own",
        lambda _: rules.names_with_several_owners(
            [Source("desktop/ui/x.py", "class A: ...\n"), Source("desktop/ui/y.py", "class B: ...\n")]
        ),
        "x",
        "",
    ),
    ("small record", rules.unexplained_fields, "desktop/ui/x.py", LARGE_RECORD.replace("    g: int\n", "")),
    (
        "explained record",
        rules.unexplained_fields,
        "desktop/ui/x.py",
        LARGE_RECORD.replace("int\n", 'int\n    """What it is."""\n'),
    ),
    (
        "lazy",
        rules.lazy_modules_unlike_their_types,
        "desktop/ui/x.py",
        "if TYPE_CHECKING:\n    from desktop.ui import y\n    import a.b as c\n"
        "else:\n    y = lazy_module('desktop.ui.y')\n    c = lazy_module('a.b')\n",
    ),
    ("timeout", rules.loses_cancellation, "desktop/ui/x.py", "async with asyncio.timeout(1):\n    await f()\n"),
    ("open", rules.modal_or_pumping, "desktop/ui/x.py", "dialog.open()\n"),
    (
        "raised again",
        lambda f: rules.broad_except(f, {}),
        "desktop/ui/x.py",
        "try:\n    f()\nexcept BaseException:\n    g()\n    raise\n",
    ),
    (
        "reviewed",
        lambda f: rules.broad_except(f, {"desktop/ui/x.py": 1}),
        "desktop/ui/x.py",
        "try:\n    f()\nexcept Exception:  # boundary: a listener must not stop the others\n    pass\n",
    ),
    ("theme", rules.hard_coloured, "desktop/ui/theme/x.py", "QColor('#ff00aa')\n"),
    (
        "put in first",
        rules.shown_without_parent,
        "desktop/ui/x.py",
        "def f(self, text):\n    self.a = Text(text)\n    column.addWidget(self.a)\n    "
        "self.a.setVisible(bool(text))\n",
    ),
    (
        "with a parent",
        rules.shown_without_parent,
        "desktop/ui/x.py",
        "def f(self):\n    a = Button('x', parent=self)\n    a.show()\n",
    ),
    ("anchor", rules.hard_coloured, "desktop/ui/x.py", "name = '#general'\n"),
]


@pytest.mark.parametrize(("rule", "name", "text"), [case[1:] for case in VIOLATIONS], ids=[c[0] for c in VIOLATIONS])
def test_rule_finds_its_violation(rule: Callable[[list[Source]], list[str]], name: str, text: str) -> None:
    assert rule([Source(name, text)])


@pytest.mark.parametrize(("rule", "name", "text"), [case[1:] for case in FINE], ids=[case[0] for case in FINE])
def test_rule_leaves_the_careful_twin_alone(rule: Callable[[list[Source]], list[str]], name: str, text: str) -> None:
    assert rule([Source(name, text)]) == []


def test_top_level_rule_finds_strays_and_gaps() -> None:
    assert rules.top_level(rules.TOP_LEVEL | {".ci", ".gitignore"}) == []
    assert rules.top_level(rules.TOP_LEVEL - {"skills"} | {"docs"}) == [
        "docs does not belong at the top",
        "skills is missing at the top",
    ]


def test_ruff_holds_complexity_and_late_imports(tmp_path: Path) -> None:
    """Our ruff settings flag a function of complexity 11 and an import inside a function."""
    branches = "".join(f"    if x == {n}:\n        return {n}\n" for n in range(10))
    (tmp_path / "bad.py").write_text(f'"""A module."""\ndef f(x: int) -> int:\n    import os\n{branches}    return 0\n')
    settings = ["--config", str(ROOT / "pyproject.toml")]
    done = _tool(["ruff", "check", *settings, "--output-format", "concise", str(tmp_path)])
    assert "C901" in done.stdout
    assert "PLC0415" in done.stdout


def test_the_formatter_decides_where_lines_break() -> None:
    done = _tool(["ruff", "format", "--check", "."])
    assert done.returncode == 0, done.stdout
    holds([file.name for file in EVERYTHING if FORMATTER_OFF in file.text])


def test_ruff_is_clean() -> None:
    done = _tool(["ruff", "check", "--output-format", "concise", "."])
    assert done.returncode == 0, "\n" + done.stdout


def test_mypy_strict_is_clean() -> None:
    done = _tool(["mypy"])
    assert done.returncode == 0, "\n" + done.stdout


def _tool(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "NO_COLOR": "1"},
    )

"""Two threads that have PySide6 make types at once end the process: the window's thread makes them all beforehand."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from desktop.app.lifecycle.qt_types import NAMES

ROOT = Path(__file__).resolve().parents[2]
AT_FIRST_IMPORT = """
import json, sys, threading
from desktop.app.lifecycle.qt_types import NAMES
plain = threading.Thread.start
def start(thread):
    if thread.name == "load" and not seen:
        seen.append([(m, n) for m in NAMES for n in NAMES[m].split() if n not in vars(sys.modules[m])])
    plain(thread)
seen, threading.Thread.start = [], start
sys.argv = ["assent", "--home", sys.argv[1], "--exit-after-paint", "--settle", "0.1"]
from desktop.app.main import main
code = main()
print(json.dumps(seen), flush=True)
sys.exit(code)
"""


def taken_from_qt() -> Iterator[tuple[str, str]]:
    """Each module of PySide6 and name of it that our code says."""
    for file in (ROOT / "desktop").rglob("*.py"):
        modules: dict[str, str] = {}
        text = file.read_text("utf-8")
        nodes = list(ast.walk(ast.parse(text))) if "PySide6" in text else []
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "PySide6":
                modules |= {name.asname or name.name: name.name for name in node.names if name.name.startswith("Qt")}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("PySide6."):
                yield from ((str(node.module), name.name) for name in node.names)
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                yield f"PySide6.{modules[node.value.id]}", node.attr


def test_every_type_that_we_take_from_qt_is_listed_and_no_other() -> None:
    assert {(module, name) for module, names in NAMES.items() for name in names.split()} == set(taken_from_qt())


def test_all_of_them_are_there_before_anything_is_imported_in_a_thread(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_FIRST_IMPORT, str(tmp_path / "home")], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [[]]

"""Puts small faults into a copy of the sources and says which ones no test notices."""

import ast
import json
import random
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .changed import touched
from .environment import ROOT, clean_environment, python
from .mutants import mutants
from .testing import HIDE_QT, hides_qt
from .words import Stop, say

NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__")


def run_mutants(places: Sequence[str], *, seed: int, count: int, json_file: Path | None) -> int:
    """Draws faults for each file or folder, tries them, prints a line a place and each fault that nothing noticed."""
    drawn = {place: draw(place, seed, count) for place in places}
    faults = list(dict.fromkeys(fault for sample in drawn.values() for fault in sample))
    tests = [test for test in touched({path for path, _ in faults}) if hides_qt(test)]
    say(f"{len(faults)} faults, {len(tests)} test files, seed {seed}")
    with tempfile.TemporaryDirectory(prefix="mu-", ignore_cleanup_errors=True) as folder:
        rows = _tried(Path(folder), json_file.resolve() if json_file else Path(folder, "told"), faults, tests)
    for place, sample in drawn.items():
        left = [row for row in rows if row["noticed"] is None and (row["path"], row["index"]) in sample]
        print(f"{place}: {len(sample)} faults, {len(sample) - len(left)} noticed, {len(left)} not")
        for row in sorted(left, key=lambda row: (row["path"], row["line"])):
            ran = "" if row["ran"] else " (no test ran this line in its own process)"
            print(f"  {row['path']}:{row['line']} {row['function']}: {row['what']}{ran}")
    return 0


def draw(place: str, seed: int, count: int, root: Path = ROOT) -> list[tuple[str, int]]:
    """At most ``count`` faults of a file or folder as (path, number), the same ones for the same seed and sources."""
    path = root / place
    if not path.exists():
        raise Stop(f"There is no {place}.", "Name a file or a folder below desktop, such as desktop/recovery.")
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    every = [(file.relative_to(root).as_posix(), index) for file in files for index in range(_count(file))]
    return random.Random(seed).sample(every, min(count, len(every)))


def _count(file: Path) -> int:
    return len(mutants(ast.parse(file.read_text("utf-8"))))


def _tried(folder: Path, told: Path, faults: Sequence[tuple[str, int]], tests: Sequence[str]) -> list[dict[str, Any]]:
    """What ``tests.harness.mutation`` tells of each fault, in a copy of the sources."""
    copy, asked, said = folder / "copy", folder / "asked", folder / "said"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED, symlinks=True)
    asked.write_text(json.dumps(faults), encoding="utf-8")
    environment = clean_environment() | {"ASSENT_MUTANTS": json.dumps([str(asked), str(told)])}
    plugins = (*HIDE_QT, "-p", "no:cacheprovider", "-p", "tests.harness.mutation")
    with said.open("wb") as output:
        command = [str(python()), "-m", "pytest", "-q", *plugins, *tests]
        subprocess.run(command, cwd=copy, env=environment, stdout=output, stderr=output)
    if not told.exists():
        raise Stop(f"The tests did not run.\n{said.read_text('utf-8', 'replace')[-2000:]}", "Make them run first.")
    return [json.loads(line) for line in told.read_text("utf-8").splitlines()]

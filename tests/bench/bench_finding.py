"""Looking for a line in a tree of 100,000 files, beside the fastest of the usual programs that this machine has."""

import asyncio
import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import SafetySettings
from desktop.domain.tools import ToolCallContext
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.searching import BoundarySearch
from desktop.services.rules.trust import TrustRules
from desktop.tools.builtin.finding import FindText
from desktop.workers.file_search_child import file_search
from tests.bench.registry import Figure, bench

FOLDERS, FILES = 1_000, 100
SERIES = 4
PATTERN = r"needle_\w+ = \d+"
ENVIRONMENT = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": "/"}


def made(root: Path) -> None:
    """Files of a few kilobytes, in one of a hundred of which there is something to find."""
    chance = random.Random(1)
    words = [f"w{chance.randrange(5_000)}" for _ in range(5_000)]
    lines = [" ".join(words[at : at + 8]) + "\n" for at in range(0, 4_990, 5)]
    for number in range(FOLDERS):
        folder = root / f"d{number // 20}" / f"e{number % 20}"
        folder.mkdir(parents=True)
        for name in range(FILES):
            start = chance.randrange(900)
            text = "".join(lines[start : start + chance.choice((5, 20, 60))])
            (folder / f"f{name}.py").write_text(text + ("needle_here = 42\n" if chance.random() < 0.01 else ""))


def others(root: Path) -> list[tuple[str, list[str]]]:
    """Programs that do the same."""
    found = []
    if shutil.which("rg"):
        found.append(("ripgrep", ["rg", "-n", PATTERN, "."]))
    if shutil.which("git"):
        for asked in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", *asked], cwd=root, env=ENVIRONMENT, check=True)
        found.append(("git grep", ["git", "grep", "-nE", PATTERN.replace(r"\w", "[a-z]").replace(r"\d", "[0-9]")]))
    return found


def taken(command: list[str], root: Path) -> float:
    """Seconds that a program takes, at best."""
    series = []
    for _ in range(SERIES):
        began = time.perf_counter()
        subprocess.run(command, cwd=root, env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
        series.append(time.perf_counter() - began)
    return min(series)


async def ours(root: Path) -> float:
    """Seconds that a call takes at best; the first one starts the child, too."""
    settings = SafetySettings(workspace=str(root), allowed=(str(root),))
    child = file_search()
    boundary = BoundarySearch(BoundaryPolicy(str(root / "home"), lambda: settings))
    tool = FindText(boundary, child, lambda: settings, TrustRules())
    context = ToolCallContext(RunMeta("run", CancellationToken()), "call")
    series = []
    for _ in range(SERIES):
        began = time.perf_counter()
        await tool.execute({"pattern": PATTERN, "limit": 2_000}, context)
        series.append(time.perf_counter() - began)
    await child.stop()
    return min(series)


@bench("find a line in 100,000 files", target="<= 3x", unit="s")
def find_a_line() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder))
        made(root)
        beside = {name: taken(command, root) for name, command in others(root)}
        measured = asyncio.run(ours(root))
    if not beside:
        return Figure(measured, None, "neither git nor ripgrep is on this machine")
    best = min(beside, key=beside.__getitem__)
    said = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in beside.items())
    return Figure(measured, beside[best], f"reference: {best}; {said}")

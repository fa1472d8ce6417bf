"""10,000 skills: shown from the index, checked against the disk, indexed for the first time, searched, watched.

Each has frontmatter and a body of 4 KB and lies in a folder of its own, which is the dearer way. Every figure comes
with what cannot be avoided: reading the files, or asking the system for their stamps.
"""

import contextlib
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.scan import RACY_NS
from desktop.skills.catalogue.search import SkillFilter
from desktop.skills.resolution.fabric import SkillFabric
from tests.bench.registry import Figure, bench

COUNT = 10_000
WORDS = (
    "data mail read write table chart report query image audio video plan note task list merge split clean sort plot "
    "code test deploy build lint review search index cache queue stream parse"
).split()
TAGS = "api slow destructive text data network files web math office".split()
BODY = ("This is a line of the body of the skill, with words in it.\n" * 80)[:4096]
PARAMS = """  params:
    type: object
    properties:
      path:
        type: string
        description: What to read.
    required: [path]
"""


def make_skills(root: Path, count: int = COUNT) -> None:
    """Skills in folders, every third with params, every tenth hidden."""
    rng = random.Random(7)
    for number in range(count):
        name = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}-{number}"
        one, two, three = rng.choices(WORDS, k=3)
        head = (
            f"name: {name}\ndescription: {one.title()} the {two} of a {three} and give a {two} back when the {one} is "
            f"asked for.\nallowed-tools: read-file {one}-*\nmetadata:\n  tags: [{', '.join(rng.sample(TAGS, 3))}]\n"
        )
        head += "  visibility: hidden\n" if number % 10 == 0 else ""
        head += PARAMS if number % 3 == 0 else ""
        (root / name).mkdir()
        (root / name / "SKILL.md").write_text(f"---\n{head}---\n{BODY}")


@contextlib.contextmanager
def skills(*, indexed: bool = True) -> Iterator[tuple[Path, str]]:
    """A folder of skills old enough to be believed by their stamps, and the path of its index."""
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        root, index = Path(folder) / "skills", str(Path(folder) / "skills.index")
        root.mkdir()
        make_skills(root)
        time.sleep(RACY_NS / 1e9 + 0.2)
        if indexed:
            fabric = opened(root, index)
            fabric.refresh()
        gc.collect()
        yield root, index


def opened(root: Path, index: str = "") -> SkillFabric:
    return SkillFabric.open([SearchRoot(str(root), "mine")], index)


def took(work: Callable[[], Any]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def files(root: Path) -> list[str]:
    return [str(path / "SKILL.md") for path in root.iterdir()]


def read_all(paths: list[str]) -> None:
    for path in paths:
        with open(path, "rb") as file:
            file.read()


def stat_all(paths: list[str]) -> None:
    for path in paths:
        os.stat(path)
        os.stat(os.path.dirname(path))


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def show(root: Path, index: str) -> SkillFabric:
    """What the page does at first: the index, all rows in order, a screen of them."""
    fabric = opened(root, index)
    catalog = fabric.catalog()
    rows = catalog.filter()
    if len(rows) != COUNT * 9 // 10:
        raise AssertionError(f"{len(rows)} rows are shown")
    for row in rows[:40]:
        catalog.row(row)
    return fabric


@bench("skills: list of 10,000 shown from the index", target="<= 50", unit="ms")
def listed() -> Figure:
    with skills() as (root, index):
        found = [took(lambda: show(root, index)) for _ in range(7)]
        reading = took(lambda: read_all(files(root)))
        size = os.path.getsize(index) / 1e6
    note = f"first {found[0]:.1f} ms, max {max(found):.1f}; {size:.1f} MB; reference: reading the files"
    return Figure(percentile(found, 0.5), reading, note)


@bench("skills: 10,000 verified against the disk", target="<= 250", unit="ms")
def verified() -> Figure:
    with skills() as (root, index):
        found = []
        for _ in range(7):
            fabric = opened(root, index)
            found.append(took(fabric.refresh))
            if fabric.globals.index.files_read:
                raise AssertionError("files were read although none changed")
        paths = files(root)
        floor = took(lambda: stat_all(paths))
    return Figure(percentile(found, 0.5), floor, f"max {max(found):.1f} ms; reference: the stamps alone")


@bench("skills: first index of 10,000", target="<= 1000", unit="ms")
def first_index() -> Figure:
    with skills(indexed=False) as (root, index):
        paths = files(root)
        reading = took(lambda: read_all(paths))
        found = []
        for _ in range(3):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(index)
            fabric = opened(root, index)
            found.append(took(fabric.refresh))
    note = f"max {max(found):.0f} ms, the index written too; reference: reading the files"
    return Figure(percentile(found, 0.5), reading, note)


QUERIES = (
    "data",
    "a",
    "table report",
    "e",
    "zzz",
    "mail-w",
    "the",
    "#api data",
    "data-*",
    "chart given x",
    "i",
    "give a back",
    "review-{mail,note}-*",
    "data-mail-7",
)


@bench("skills: query over 10,000, p99", target="<= 3", unit="ms")
def query() -> Figure:
    with skills() as (root, index):
        catalog = opened(root, index).catalog()
        first = took(lambda: catalog.filter(SkillFilter("data")))
        rng = random.Random(1)
        found = [took(lambda: catalog.filter(SkillFilter(rng.choice(QUERIES)))) for _ in range(2_000)]
    return Figure(percentile(found, 0.99), None, f"median {percentile(found, 0.5):.2f} ms; the very first {first:.1f}")


@bench("skills: filter chips over 10,000, p99", target="<= 16", unit="ms")
def chips() -> Figure:
    """A press of a chip: the rows, and how many each other chip would show."""
    with skills() as (root, index):
        catalog = opened(root, index).catalog()
        rng = random.Random(1)

        def press() -> None:
            wanted = SkillFilter(
                rng.choice(["", "", "data"]),
                tuple(rng.sample(TAGS, rng.randint(0, 3))),
                rng.choice(["shown", "hidden", "all"]),
                frozenset(rng.sample(["mine", "library"], rng.randint(0, 2))),
                problems_only=rng.random() < 0.1,
            )
            catalog.filter(wanted)
            catalog.counts(wanted)

        first = took(press)
        found = [took(press) for _ in range(1_000)]
    return Figure(percentile(found, 0.99), None, f"median {percentile(found, 0.5):.2f} ms; the very first {first:.1f}")


MEMORY = """
import gc, json, sys
from desktop.skills.resolution.fabric import SkillFabric
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.search import SkillFilter

def mine():
    gc.collect()
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private")) / 1024

root = [SearchRoot(sys.argv[1], "mine")]
SkillFabric.open(root).catalog().filter(SkillFilter("x"))
start = mine()
fabric = SkillFabric.open(root, sys.argv[2])
fabric.refresh()
fabric.catalog().filter(SkillFilter("data"))
fabric.catalog().counts()
shown = mine()
tools = fabric.list_tools()
print(json.dumps([shown - start, mine() - start, len(tools)]))
"""


@bench("skills: memory of 10,000", target="<= 25", unit="MB")
def memory() -> Figure:
    """Private memory of a process of its own: index, catalogue, search and, last, every definition."""

    def run(root: Path, index: str) -> list[float]:
        command = [sys.executable, "-c", MEMORY, str(root), index]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found: list[float] = json.loads(done.stdout)
        return found

    with skills() as (root, index):
        shown, whole, count = run(root, index)
        os.unlink(index)
        built = run(root, index)[1]
    if count != COUNT:
        raise AssertionError(f"{count} tools")
    note = f"with all definitions made; page alone {shown:.1f} MB; where the index was built too {built:.1f} MB"
    return Figure(whole, None, note)


@bench("skills: a change on disk seen", target="<= 1000", unit="ms")
def watched() -> Figure:
    """From the write to the new list, with 10,000 skills; the longest of ten."""
    with skills() as (root, index):
        fabric = opened(root, index)
        fabric.watch()
        try:
            fabric.refresh()
            found = [_seen(fabric, root, number) for number in range(10)]
        finally:
            fabric.close()
    return Figure(max(found), None, f"median {percentile(found, 0.5):.0f} ms")


def _seen(fabric: SkillFabric, root: Path, number: int) -> float:
    started = time.perf_counter()
    folder = root / f"new-{number}"
    folder.mkdir()
    (folder / "SKILL.md").write_text(f"---\nname: new-{number}\ndescription: New.\n---\n{BODY}")
    while not fabric.catalog().filter(SkillFilter(f"new-{number}")):
        if time.perf_counter() - started > 30:
            raise AssertionError("not seen")
        time.sleep(0.002)
    return (time.perf_counter() - started) * 1000


@bench("skills: a name known already, found", target="<= 10", unit="us")
def known() -> Figure:
    with skills() as (root, index):
        fabric = opened(root, index)
        names = [definition.name for definition in fabric.list_tools()[:1_000]]
        for name in names:
            fabric.find_tool(name)
        found = took(lambda: [fabric.find_cached(name) for name in names])
        asked = took(lambda: [fabric.find_tool(name) for name in names])
        missing = took(lambda: fabric.find_tool("not-there"))
        near = took(lambda: fabric.suggest_names("data-mial-7"))
    note = f"find_tool {asked:.1f} us; a first miss {missing:.0f} ms, its near names {near:.0f} ms"
    return Figure(found, None, note)

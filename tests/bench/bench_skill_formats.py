"""Reading skill files: 10,000 ordinary ones, and the worst single one."""

import random
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from desktop.skills.formats import load_from_bytes, load_skills_from_file
from tests.bench.registry import Figure, bench
from tests.samples import WORDS

COUNT = 10_000
TAGS = ("api", "slow", "destructive", "data", "network", "files")
PARAMS = (
    "  params:\n    type: object\n    properties:\n      path: {type: string}\n      count:\n        type: integer\n"
    "        description: How many\n    required: [path]\n"
)


@contextmanager
def skills() -> Iterator[list[str]]:
    """The paths of so many files with frontmatter, every other one with params, and 4 KB of body."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        paths = []
        for number in range(COUNT):
            path = Path(folder) / f"group-{number % 100}" / f"skill-{number}.skill.md"
            path.parent.mkdir(exist_ok=True)
            head = (
                f"name: skill-{number}\ndescription: {' '.join(rng.choices(WORDS, k=14))}, number {number}.\n"
                f"allowed-tools: file-read file-list\nmetadata:\n  tags: [{rng.choice(TAGS)}, group-{number % 20}]\n"
                f"  category: read\n{PARAMS if number % 2 else ''}"
            )
            path.write_text(f"---\n{head}---\n# Skill\n\n{' '.join(rng.choices(WORDS, k=700)):.4000}\n")
            paths.append(str(path))
        yield paths


def seconds(work: object, *arguments: object) -> float:
    started = time.perf_counter()
    work(*arguments)  # type: ignore[operator]
    return time.perf_counter() - started


def read_all(paths: list[str]) -> None:
    for path in paths:
        with open(path, "rb") as file:
            file.read()


def load_all(paths: list[str]) -> None:
    found = [load_skills_from_file(path, source="mine", root="") for path in paths]
    if sum(len(loaded.definitions) for loaded in found) != COUNT or any(loaded.problems for loaded in found):
        raise AssertionError("a skill was not read")


@bench("skills parse 10,000", target="<= 800", unit="ms")
def parse() -> Figure:
    with skills() as paths:
        plain = min(seconds(read_all, paths) for _ in range(3))
        ours = min(seconds(load_all, paths) for _ in range(3))
        tracemalloc.start()
        found = [load_skills_from_file(path, source="mine", root="") for path in paths]
        size = tracemalloc.get_traced_memory()[0] / 1e6
        tracemalloc.stop()
    note = f"{size:.1f} MB for {len(found)} definitions; reference: reading the files"
    return Figure(ours * 1000, plain * 1000, note)


WORST = {
    "aliases.skill.md": "---\n"
    + "".join(f"k{n}: &a{n} [x, x, x, x]\nl{n}: [*a{n}, *a{n}]\n" for n in range(1_400))
    + "---\n",
    "values.skill.md": "---\n" + "".join(f"k{n}: v\n" for n in range(5_000)) + "---\n",
    "quoted.skill.md": "---\nname: a\ndescription: '" + "''" * 31_000 + "'\n---\n",
    "sections.skill.md": "---\nname: a\ndescription: d\n---\n" * 1_001,
    "rules.skill.md": "---\nname: a\ndescription: d\n---\n" + "---\nx\n" * 150_000,
    "size.skill.md": "---\n" + "a: b\n" * 199_000,
    "patterns.skill.md": "---\nname: a\ndescription: d\nallowed-tools: " + "a(b=c*) " * 7_000 + "(\n---\n",
    "schema.skill.md": "---\nname: a\ndescription: d\nmetadata:\n  params:\n    $ref: '#/$defs/a0'\n    $defs:\n"
    + "".join(f"      a{n}: {{$ref: '#/$defs/a{n + 1}'}}\n" for n in range(1_000))
    + "---\n",
    "expressions.skill.md": "---\nname: a\ndescription: d\nmetadata:\n  params:\n    properties:\n"
    + "".join(f"      a{n}: {{pattern: '(?=.)\\p{{L}}{{1,{n + 12}}}'}}\n" for n in range(19))
    + "---\n",
    "long.skill.py": "frontmatter = {'name': 'a', 'description': 'd'}\ndef run(ctx, args): ...\n"
    + "".join(f"def f{n}(x):\n    return [x, {n}]\n" for n in range(2_700)),
    "text.skill.py": "x = '''\n" + "def f(): pass\n" * 7_000,
    "slashes.skill.js": "a/b;" * 24_900,
    "classes.skill.js": "/[" * 49_900,
    "open.skill.js": "export const frontmatter:" * 4_100,
    "quotes.skill.js": "''" * 49_900,
    "templates.skill.js": "`${a}`" * 16_600,
    "literal.skill.js": "export const frontmatter = {a: [" + "1, " * 4_990 + "]}",
}


@bench("skills: the worst bad file", target="<= 100", unit="ms")
def worst() -> Figure:
    """What a person may put into one file to make reading it slow; each is refused or read in this time."""
    warm = b"---\nname: a\nx: &b c\nmetadata: {params: {allOf: [{}]}}\n---\n"
    load_from_bytes(warm, "warm.skill.md", source="mine", root="")
    found = {}
    for name, text in WORST.items():
        data = text.encode()
        started = time.perf_counter()
        load_from_bytes(data, f"/{name}", source="mine", root="")
        found[name] = (time.perf_counter() - started) * 1000
    order = sorted(found, key=lambda name: -found[name])
    return Figure(found[order[0]], None, ", ".join(f"{name} {found[name]:.0f}" for name in order[:4]))

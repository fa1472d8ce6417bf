"""Every command of the corpora, run in a copy: what is read of it is what ``diff -r`` says of the kernel's own view of
the copy, and nothing real changes. Most of them are abuse of one kind or another."""

import os
import re
from pathlib import Path

import pytest

from desktop.safety.confinement.select import Kind
from tests.unit.safety.outcomes.conftest import filled
from tests.unit.safety.outcomes.rehearsals import differences, rehearsals, topmost, tree
from tests.unit.safety.world import World

DATA = Path(__file__).resolve().parents[3] / "data"
CORPORA = {"shell_corpus.tsv": 1, "shell_later_tricks.tsv": 2, "shell_rule_tricks.tsv": 2}
_ESCAPED = re.compile(r"\\([nt\\])")
STEP = 12
WRITING = re.compile(r">|\b(?:cp|mv|ln|tee|mkdir|touch|chmod|sed|tar)\b")


def commands() -> list[str]:
    """The command of each row."""
    found = []
    for name, column in CORPORA.items():
        for line in (DATA / name).read_text().splitlines():
            parts = line.split("\t")
            if not line.startswith("#") and len(parts) > column:
                plain = _ESCAPED.sub(lambda one: {"n": "\n", "t": "\t"}.get(one[1], "\\"), parts[column])
                found.append(plain)
    return [command for command in found if command.replace("\n", "").isprintable()]


def compared(world: World, kind: Kind, chosen: list[str]) -> tuple[list[str], int]:
    """The commands of which something else was read than what ``diff`` says, and how many changed anything."""
    filled(world)
    root, wrong, changed = str(world.workspace), [], 0
    before = tree(world.workspace)
    with rehearsals(world, kind) as here:
        if not here.works or here.copies.refusal(grants=True):
            pytest.skip("this machine makes no such copies")
        for command in chosen:
            _, reading, copy = here.run(command, timeout_s=3)
            content, digests, rights = differences(root, copy)
            made = {os.path.relpath(c.path, root): c.after.digest for c in reading.changes if c.after.kind == "file"}
            same = all(digests.get(path) == digest for path, digest in made.items())
            if topmost(reading, root) != (content, rights) or not same:
                wrong.append(f"{command!r}: {topmost(reading, root)}, and diff says {content}, {rights}")
            changed += bool(content or rights)
            copy.drop()
    assert tree(world.workspace) == before
    return wrong, changed


@pytest.mark.spec("R-OUT-2")
def test_what_is_read_of_a_command_is_what_diff_says(world: World) -> None:
    writing = [command for command in commands() if WRITING.search(command)]
    wrong, changed = compared(world, "bubblewrap", writing[::STEP])
    assert wrong == []
    assert changed > 1


@pytest.mark.soak
@pytest.mark.spec("R-OUT-2")
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_so_it_is_for_every_command_of_the_corpora(world: World, kind: Kind) -> None:
    wrong, changed = compared(world, kind, commands())
    assert wrong == []
    assert changed > 100

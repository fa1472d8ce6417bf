"""Many edits by agents and a person, undone in any order, leave just the bytes that a much simpler model says.

In the model a file is a row of slots with a line of its own between them. Each edit gives some slots a new value. An
undo gives a slot the value before if it has the value after, and leaves it, as a named conflict, if it has another.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from desktop.domain.files.undo import UndoConflict, UndoPreview
from tests.unit.services.changes.kit import Calls

FILES, SLOTS = 4, 8
Value = tuple[str, ...]


@dataclass
class Edit:
    """Slots of one file that got other values, and by whom; of a person without an id."""

    file: int
    slots: dict[int, tuple[Value, Value]]
    change_id: str = ""


@dataclass
class Model:
    random: random.Random
    values: list[list[Value]] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    fresh: int = 0

    def __post_init__(self) -> None:
        self.values = [[self.value() for _ in range(SLOTS)] for _ in range(FILES)]
        self.ends = [self.random.choice(["\n", "\r\n"]) for _ in range(FILES)]

    def value(self) -> Value:
        found = []
        for _ in range(self.random.choice([0, 1, 1, 1, 2, 3])):
            self.fresh += 1
            found.append(f"line {self.fresh} ünïcödé")
        return tuple(found)

    def lines(self, file: int) -> list[tuple[str, int]]:
        """Each line with the slot that it is in, or -1."""
        found = []
        for slot, value in enumerate(self.values[file]):
            found += [(f"== {file}.{slot}", -1), *((line, slot) for line in value)]
        return found

    def content(self, file: int) -> bytes:
        return "".join(line + self.ends[file] for line, _ in self.lines(file)).encode()

    def edit(self) -> Edit:
        file = self.random.randrange(FILES)
        slots = self.random.sample(range(SLOTS), self.random.randint(1, 3))
        made = Edit(file, {slot: (self.values[file][slot], self.value()) for slot in slots})
        made.slots = {slot: pair for slot, pair in made.slots.items() if pair[0] != pair[1]}
        for slot, (_, after) in made.slots.items():
            self.values[file][slot] = after
        self.edits.append(made)
        return made

    def undo(self, edit: Edit) -> tuple[set[int], Edit]:
        """The slots in conflict, and the undo as an edit."""
        left, made = set(), Edit(edit.file, {})
        for slot, (before, after) in edit.slots.items():
            now = self.values[edit.file][slot]
            if now == after:
                made.slots[slot] = (after, before)
            elif now != before:
                left.add(slot)
        for slot, (_, value) in made.slots.items():
            self.values[edit.file][slot] = value
        return left, made

    def slots_of(self, file: int, conflict: UndoConflict) -> set[int]:
        """Where a conflict lies; to be asked before the undo."""
        lines = self.lines(file)
        if conflict.last >= conflict.first:
            return {lines[at - 1][1] for at in range(conflict.first, conflict.last + 1)}
        return {sum(slot < 0 for _, slot in lines[: conflict.first - 1]) - 1}


class Played:
    """The model and the real files, side by side."""

    def __init__(self, calls: Calls, seed: int) -> None:
        self.calls, self.model = calls, Model(random.Random(seed))
        self.conflicts = 0
        for file in range(FILES):
            self.path(file).write_bytes(self.model.content(file))

    def path(self, file: int) -> Path:
        return self.calls.root / f"{file}.md"

    def agree(self) -> None:
        for file in range(FILES):
            assert self.path(file).read_bytes() == self.model.content(file)

    async def edit(self) -> None:
        who = self.model.random.choice(["one", "two", "three", "person"])
        made = self.model.edit()
        content = self.model.content(made.file)
        if not made.slots:
            self.model.edits.remove(made)
        elif who == "person":
            self.path(made.file).write_bytes(content)
        else:
            made.change_id = await self.calls.write(f"{made.file}.md", content, agent=who)

    async def undo(self, edit: Edit) -> None:
        plan = await self.calls.service.plan([edit.change_id])
        expected = [self.model.slots_of(edit.file, one) for file in plan.preview.files for one in file.conflicts]
        left, made = self.model.undo(edit)
        assert set().union(*expected) == left
        assert all(one.later for file in plan.preview.files for one in file.conflicts), "somebody is named"
        self.named(edit, plan.preview)
        self.conflicts += len(left)
        if made.slots:
            assert (await self.calls.service.undo(plan))[0] == ()
            made.change_id = await self.calls.last()
            self.model.edits.append(made)

    def named(self, edit: Edit, preview: UndoPreview) -> None:
        """Nobody is named who changed another file or came before."""
        later = {one.change_id for one in self.model.edits[self.model.edits.index(edit) + 1 :] if one.file == edit.file}
        assert set(preview.standing_on) <= later


async def play(calls: Calls, edits: int, seed: int) -> int:
    played = Played(calls, seed)
    for _ in range(edits):
        await played.edit()
    played.agree()
    undone = [edit for edit in played.model.edits if edit.change_id]
    played.model.random.shuffle(undone)
    for edit in undone:
        await played.undo(edit)
        played.agree()
    for edit in reversed([edit for edit in played.model.edits if edit.change_id][-10:]):
        await played.undo(edit)  # an undo is undone like any change
        played.agree()
    return played.conflicts


@pytest.mark.spec("R-UND-2")
async def test_edits_by_agents_and_a_person_are_undone_in_any_order(calls: Calls) -> None:
    assert await play(calls, 40, seed=7) > 0


@pytest.mark.soak
@pytest.mark.spec("R-UND-2")
async def test_five_hundred_edits_are_undone_in_any_order(calls: Calls) -> None:
    assert await play(calls, 500, seed=11) > 0


@pytest.mark.spec("R-UND-2")
async def test_without_a_person_in_between_the_beginning_is_reached_again_byte_for_byte(calls: Calls) -> None:
    played = Played(calls, 3)
    before = [played.path(file).read_bytes() for file in range(FILES)]
    ids = []
    for number in range(12):
        made = played.model.edit()
        if made.slots:
            content = played.model.content(made.file)
            ids.append(await calls.write(f"{made.file}.md", content, agent=f"agent-{number % 3}"))
    preview = await calls.undo(*ids)
    assert preview.conflicts == 0
    assert [played.path(file).read_bytes() for file in range(FILES)] == before

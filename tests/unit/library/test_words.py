"""Skills in words: found in discovery, brought in as text, their files read where they lie (S-SK-3, S-SK-4)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import KnownError
from desktop.domain.safety import Access
from desktop.domain.skills import SkillDef
from desktop.services.skills.files import FilesWithSkills, SkillsInUse
from desktop.services.skills.text import marked
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.fabric import SkillFabric
from desktop.tools.builtin.files import ListDirectory, ReadFile, WriteFile
from tests.harness.changes import KeepsNothing
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import Person
from tests.unit.safety.world import World
from tests.unit.skills.resolution.kit import MemoryStore

pytestmark = pytest.mark.spec("S-SK-3", "S-SK-4")

HEAD = "---\nname: pdf\ndescription: Fill in and split PDF files.\n"


class Bench(LibraryBench):
    """The library with the file tools inside a real boundary, and a folder of skills outside of it."""

    def __init__(self, folder: Path) -> None:
        self.safe = World(folder / "safe")
        self.reading = FilesWithSkills(self.safe.files())
        settings = lambda: self.safe.settings  # noqa: E731
        files: Any = self.reading
        self.person = Person()
        tools: Any = (ReadFile(files, settings), ListDirectory(files), WriteFile(self.safe.files(), KeepsNothing()))
        super().__init__(folder, *tools, person=self.person, files=self.safe.files())
        self.reading.skills = self.world.in_use
        self.write("pdf/SKILL.md", HEAD + "---\nFor forms see [forms](forms.md).\n")
        self.write("pdf/forms.md", "First look at the fields.")
        self.write("pdf/scripts/fill.py", "print(1)")
        self.pdf = self.mine / "pdf"

    async def said(self, tool: str, args: dict[str, Any] | None = None) -> tuple[str, str]:
        result = (await self.call(tool, args)).result
        return result.code, result.text


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.spec("R-VIS-4")
async def test_a_skill_in_words_is_found_described_and_gives_its_text(bench: Bench) -> None:
    rows = (await bench.call("skill-list", {"query": "pdf"})).result.structured
    assert rows[0]["name"] == "pdf"  # before tools that speak of it
    described = (await bench.call("skill-describe", {"name": "pdf"})).result.structured
    assert described["files"] == ["forms.md", "scripts/fill.py"]
    code, text = await bench.said("skill-invoke", {"ref": "pdf"})
    assert (code, text.splitlines()[0]) == ("", "For forms see [forms](forms.md).")
    assert not bench.model.requests  # no agent of its own works on it


async def test_a_skill_in_use_tells_its_folder_and_every_file(bench: Bench) -> None:
    _, text = await bench.said("skill-invoke", {"ref": "pdf"})
    assert str(bench.pdf) in text
    assert "- forms.md (25 bytes)" in text
    assert "- scripts/fill.py (8 bytes)" in text
    assert "through bash" in text


@pytest.mark.spec("R-FS-1")
async def test_its_files_are_read_from_the_moment_it_is_in_use_by_whole_and_by_relative_paths(bench: Bench) -> None:
    whole = {"path": str(bench.pdf / "forms.md")}
    assert (await bench.said("read-file", whole))[0] == "denied.boundary"
    assert (await bench.said("read-file", {"path": "forms.md"}))[0] != ""
    await bench.call("skill-invoke", {"ref": "pdf"})
    assert await bench.said("read-file", whole) == ("", "First look at the fields.")
    assert await bench.said("read-file", {"path": "forms.md"}) == ("", "First look at the fields.")
    assert "fill.py" in (await bench.said("list-directory", {"path": "scripts"}))[1]
    assert "forms.md" in (await bench.said("list-directory", {"path": str(bench.pdf)}))[1]
    assert not bench.person.asked


@pytest.mark.spec("R-FS-1")
async def test_a_file_of_the_workspace_comes_before_one_of_a_skill_and_two_skills_are_not_guessed_between(
    bench: Bench,
) -> None:
    bench.write("doc/SKILL.md", HEAD.replace("pdf", "doc") + "---\nText.\n")
    bench.write("doc/forms.md", "Other fields.")
    await bench.call("skill-invoke", {"ref": "pdf"})
    await bench.call("skill-invoke", {"ref": "doc"})
    assert (await bench.said("read-file", {"path": "forms.md"}))[0] != ""
    Path(bench.safe.settings.workspace, "forms.md").write_text("mine")
    assert await bench.said("read-file", {"path": "forms.md"}) == ("", "mine")


@pytest.mark.spec("R-FS-3", "R-FS-5", "R-FS-10")
async def test_nothing_is_written_there_and_no_link_and_no_dots_lead_out(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    (bench.pdf / "out").symlink_to(tmp_path / "secret.txt")
    (bench.pdf / "up").symlink_to(tmp_path, target_is_directory=True)
    await bench.call("skill-invoke", {"ref": "pdf"})
    for path in ("out", "up/secret.txt", "../../secret.txt"):
        for given in (path, str(bench.pdf / path)):
            code, text = await bench.said("read-file", {"path": given})
            assert code != ""
            assert "SECRET" not in text
    written = await bench.said("write-file", {"path": str(bench.pdf / "forms.md"), "content": "x"})
    assert written[0] == "denied.boundary"
    assert (bench.pdf / "forms.md").read_text() == "First look at the fields."


@pytest.mark.spec("R-FS-3")
async def test_what_a_person_denied_stays_denied_in_a_skill(bench: Bench) -> None:
    bench.safe.change(denied=(str(bench.pdf / "forms.md"),))
    await bench.call("skill-invoke", {"ref": "pdf"})
    assert (await bench.said("read-file", {"path": str(bench.pdf / "forms.md")}))[0] == "denied.boundary"


@pytest.mark.spec("R-SK-15")
def test_of_a_pinned_skill_only_what_the_person_has_seen_is_read(tmp_path: Path) -> None:
    safe, root = World(tmp_path / "safe"), tmp_path / "shared"
    (root / "pdf").mkdir(parents=True)
    (root / "pdf" / "SKILL.md").write_text(HEAD + "---\nText.\n")
    (root / "pdf" / "forms.md").write_text("seen")
    fabric = SkillFabric.open([SearchRoot(str(root), "shared")], pin_store=MemoryStore())
    fabric.refresh()
    found = fabric.find_tool("pdf")
    assert found is not None
    reading = FilesWithSkills(safe.files())
    bench = SkillsOf(fabric, found, reading)
    assert bench.read(root / "pdf" / "forms.md") == b"seen"
    (root / "pdf" / "forms.md").write_text("changed later")
    (root / "pdf" / "new.md").write_text("came later")
    fabric.refresh()
    for name in ("forms.md", "new.md"):
        with pytest.raises(KnownError, match="not as you saw it"):
            bench.read(root / "pdf" / name)


class SkillsOf:
    """One skill in use."""

    def __init__(self, fabric: SkillFabric, skill: SkillDef, reading: FilesWithSkills) -> None:
        from_fabric = fabric.read_beside
        self.reading = reading
        reading.skills = SkillsInUse(from_fabric)
        reading.skills.add(skill)

    def read(self, path: Path) -> bytes:
        assert self.reading.explain(str(path), Access.READ).allowed
        with self.reading.open_read(str(path)) as stream:
            assert os.fstat(stream.fileno()).st_size
            return stream.read()


@pytest.mark.spec("R-VIS-1", "R-VIS-6")
async def test_what_only_a_person_may_call_for_is_neither_listed_to_a_model_nor_called_by_it(bench: Bench) -> None:
    bench.write("deploy/SKILL.md", HEAD.replace("pdf", "deploy") + "disable-model-invocation: true\n---\nDeploy.\n")
    rows = (await bench.call("skill-list", {"query": "deploy"})).result.structured
    assert rows == []
    assert (await bench.said("skill-invoke", {"ref": "deploy"}))[0] != ""
    assert (await bench.said("deploy"))[0] == "denied.visibility"
    text = (await bench.call("deploy", allowed="deploy")).result.text  # a person's list names it
    assert text.startswith("Deploy.")


async def test_arguments_and_the_folder_are_put_in_and_never_read_for_directives(bench: Bench) -> None:
    bench.write(
        "look/SKILL.md",
        HEAD.replace("pdf", "look") + "argument-hint: '[file] [page]'\n---\nAll: $ARGUMENTS\nFirst: $0, second: "
        "$ARGUMENTS[1], more: $2, price $5.\nRun ${CLAUDE_SKILL_DIR}/x.py\n",
    )
    spec = (await bench.call("skill-describe", {"name": "look"})).result.structured
    assert "[file] [page]" in spec["params"]["properties"]["arguments"]["description"]
    _, text = await bench.said("skill-invoke", {"ref": "look", "args": {"arguments": ":env[HOME] '$1 b'"}})
    assert text.splitlines()[:3] == [
        "All: :env[HOME] '$1 b'",
        "First: :env[HOME], second: $1 b, more: $2, price $5.",
        f"Run {bench.mine / 'look'}/x.py",
    ]


def test_arguments_without_a_place_come_last_and_prices_stay() -> None:
    def filled(body: str, given: str) -> str:
        made = marked(body, given, "/s")
        return made.filled(made.text)

    assert filled("Do it.\n", "a b") == "Do it.\n\nARGUMENTS: a b\n"
    assert filled("awk '{print $1}' costs $1-3M.", "") == "awk '{print $1}' costs $1-3M."
    assert filled("$ARGUMENTS.", "") == "."
    assert filled("Fix $0.", "it's") == "Fix it's."


async def test_a_skill_that_asks_for_an_agent_of_its_own_gets_one(bench: Bench) -> None:
    bench.write("deep/SKILL.md", HEAD.replace("pdf", "deep") + "context: fork\n---\nResearch $ARGUMENTS.\n")
    await bench.call("deep", {"arguments": "owls"})
    assert bench.model.requests[0].system.startswith("Research owls.")

"""find-text and find-files: the real child over real files, behind the real boundary."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.files.searching import FoundPath
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.runs.cancellation import CancellationToken
from desktop.safety.boundary.searching import BoundarySearch
from desktop.services.rules.trust import TrustRules
from desktop.tools.builtin.finding import FIND_FILES, FIND_TEXT, FindFiles, FindText
from desktop.workers.file_search_child import file_search
from tests.harness.timeouts import WAIT_S
from tests.unit.tools.conftest import Bench, context


class Finder:
    """The two tools over a bench."""

    def __init__(self, bench: Bench, rules: str = "") -> None:
        world = bench.world
        self.bench, self.child = bench, file_search()
        self.rules = TrustRules(text=rules, cwd=str(world.workspace), home=str(world.person))
        shared = BoundarySearch(world.policy), self.child, lambda: world.settings, self.rules
        self.text, self.files = FindText(*shared), FindFiles(*shared)

    def made(self, **files: str) -> None:
        """Files of the workspace; two underscores in a name are a folder, one a dot."""
        for name, text in files.items():
            path = self.bench.world.workspace / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    async def lines(self, pattern: str, **more: object) -> str:
        return (await self.bench.run(self.text, pattern=pattern, **more)).text

    async def names(self, glob: str, **more: object) -> str:
        return (await self.bench.run(self.files, glob=glob, **more)).text


@pytest.fixture
async def finder(bench: Bench) -> AsyncIterator[Finder]:
    made = Finder(bench)
    yield made
    await made.child.stop()


@pytest.mark.spec("R-EDT-2", "R-BLT-1")
async def test_lines_come_by_file_with_their_numbers(finder: Finder) -> None:
    finder.made(a_py="import os\nx = 1\n", src__b_py="y = 2\nx = 3\nz = 4\n", src__c_txt="x\n")
    assert await finder.lines("^x", globs=["*.py"]) == "a.py\n2:x = 1\n\nsrc/b.py\n2:x = 3"
    assert await finder.lines("^x", path="src", context=1) == "src/b.py\n1-y = 2\n2:x = 3\n3-z = 4\n\nsrc/c.txt\n1:x"
    assert await finder.lines("X", path="src/c.txt", case="ignore") == "src/c.txt\n1:x"
    assert await finder.lines("x", names_only=True, globs=["*.py"]) == "a.py: 1 line\nsrc/b.py: 1 line"
    assert [(s.category, s.provider_name) for s in (FIND_TEXT, FIND_FILES)] == [
        (Category.READ, "find_text"),
        (Category.READ, "find_files"),
    ]


@pytest.mark.spec("R-EDT-2")
async def test_names_come_in_order_of_path(finder: Finder) -> None:
    finder.made(a_py="", src__b_py="", src__deep__c_py="", build__x_txt="")
    assert await finder.names("*.py") == "a.py\nsrc/b.py\nsrc/deep/c.py"
    assert await finder.names("*/b.py") == "src/b.py"
    assert await finder.names("*.py", path="src") == "src/b.py\nsrc/deep/c.py"
    assert await finder.names("**/", path=".") == "build/\nsrc/\nsrc/deep/"
    where = str(finder.bench.world.workspace / "src")
    assert await finder.names("c.*", path=where) == f"{where}/deep/c.py"


@pytest.mark.spec("R-EDT-2")
async def test_what_is_cut_says_how_to_go_on(finder: Finder) -> None:
    finder.made(a_txt="x\n" * 5, b_txt="x\n")
    first = await finder.lines("x", limit=4)
    assert first.endswith("[4 lines shown, there are more: narrow the search, or skip 4]")
    assert await finder.lines("x", limit=4, skip=4) == "a.txt\n5:x\n\nb.txt\n1:x"
    assert (await finder.names("*.txt", limit=1)).endswith(
        "[1 file shown, there are more: narrow the search, or skip 1]"
    )
    finder.bench.world.change(output_limit=2_000)
    finder.made(c_txt="".join(f"long line {number}\n" for number in range(500)))
    cut = await finder.lines("long line", limit=2000)
    *shown, note = cut.splitlines()
    assert len(cut.encode()) < 2_000
    assert note == f"[{len(shown) - 1} lines shown, there are more: narrow the search, or skip {len(shown) - 1}]"
    assert (await finder.lines("long line", skip=len(shown) - 1)).splitlines()[1].startswith(f"{len(shown)}:")


@pytest.mark.spec("R-EDT-2")
async def test_nothing_found_says_where_was_looked(finder: Finder) -> None:
    finder.made(_gitignore="*.log\n", a_log="x", a_txt="y")
    assert await finder.lines("x") == "[Nothing found in 3 files; left out as ignored: 1]"
    assert await finder.lines("x", ignored=True) == "a.log\n1:x"


@pytest.mark.spec("R-EDT-2", "R-BLT-3", "R-FS-3")
async def test_nothing_denied_secret_or_outside_is_found(finder: Finder) -> None:
    world = finder.bench.world
    finder.made(open__a_txt="PRIVATE\n", shut__key_txt="PRIVATE\n")
    os.link(world.ssh / "id_rsa", world.workspace / "innocent.txt")
    (world.workspace / "way").symlink_to(world.ssh)
    (world.workspace / "out.txt").symlink_to(world.outside / "secret.txt")
    world.change(allowed=(str(world.person),), denied=(str(world.ssh), str(world.workspace / "shut")))
    for path in (str(world.person), "."):
        assert (await finder.lines("PRIVATE|OUTSIDE|CONVERSATIONS", path=path, ignored=True)).count("PRIVATE") == 1
        names = await finder.names("*", path=path, ignored=True)
        shown = {line.rpartition("/")[2] for line in names.splitlines() if not line.startswith("[")}
        assert shown == {"note.txt", "a.txt"}
    for path in (str(world.outside), str(world.ssh), str(world.home / "data"), "/", "/proc"):
        check = await finder.text.precheck({"pattern": "x", "path": path}, NOWHERE)
        assert isinstance(check.denied, BoundaryViolation)
        with pytest.raises(BoundaryViolation):
            await finder.text.execute({"pattern": "x", "path": path}, context())


@pytest.mark.spec("R-EDT-2", "R-FS-9")
async def test_a_folder_that_is_swapped_for_a_link_meanwhile_leads_to_nothing(finder: Finder) -> None:
    """The root is judged, then somebody turns a folder above it into a link to what is denied."""
    world = finder.bench.world
    (world.workspace / "in" / "deep").mkdir(parents=True)
    (world.outside / "deep").mkdir()
    (world.outside / "deep" / "secret.txt").write_text("OUTSIDE\n")
    boundary = BoundarySearch(world.policy)
    area = boundary.area("in/deep")
    os.rename(world.workspace / "in", world.workspace / "was")
    (world.workspace / "in").symlink_to(world.outside)
    found = (world.outside / "deep" / "secret.txt").stat()
    seen = FoundPath(f"{area.root}/secret.txt", found.st_dev, found.st_ino)
    assert boundary.vouched([seen]) == [False]


@pytest.mark.spec("R-EDT-2", "R-PRM-12")
@pytest.mark.parametrize("policy", ["deny", "ask"])
async def test_a_rule_about_reading_keeps_found_files_back(bench: Bench, policy: str) -> None:
    finder = Finder(bench, f"read-file(path=**/*.pem,$policy={policy}) list-directory(path=hidden/**,$policy={policy})")
    finder.made(a_pem="key\n", a_txt="key\n", hidden__b_txt="key\n")
    assert await finder.lines("key") == "a.txt\n1:key\n\nhidden/b.txt\n1:key"
    assert await finder.lines("key", limit=1) == (
        "a.txt\n1:key\n[1 line shown, there are more: narrow the search, or skip 1]"
    )
    for guess in ("key$", "nothing"):  # nothing tells whether it is in the file that may not be read
        told = await finder.lines(guess, globs=["*.pem"])
        assert told == "[Nothing found in 4 files]"
    assert "b.txt" not in await finder.names("*.txt")
    await finder.child.stop()


@pytest.mark.spec("R-EDT-2")
async def test_an_expression_that_cannot_be_used_says_what_can(finder: Finder) -> None:
    with pytest.raises(ToolFailure) as caught:
        await finder.lines("(?<=a)b")
    assert "invalid perl operator: (?<=" in str(caught.value)
    assert "With literal set to true" in str(caught.value)


async def test_names_that_would_pass_for_two_lines_are_escaped(finder: Finder) -> None:
    (finder.bench.world.workspace / "a\nb.txt").write_text("x\u2028y\rz\n")
    (finder.bench.world.workspace / b"half\xff.txt".decode("utf-8", "surrogateescape")).write_text("x\n")
    assert await finder.names("*.txt") == "a\\nb.txt\nhalf\\udcff.txt\nnote.txt"
    assert (await finder.lines("x")).splitlines()[:2] == ["a\\nb.txt", "1:x\\u2028y\\rz"]


async def test_a_file_that_is_no_text_or_not_there_says_so(finder: Finder) -> None:
    (finder.bench.world.workspace / "data.bin").write_bytes(b"x\0")
    assert (await finder.lines("x", path="data.bin")).startswith("[The file is not text; nothing found in 1 file")
    with pytest.raises(ToolFailure, match="There is no file or folder"):
        await finder.lines("x", path="nowhere")


@pytest.mark.spec("R-EDT-2", "R-TOOL-6")
async def test_a_search_under_way_is_cancelled_and_the_next_one_works(finder: Finder, tmp_path: Path) -> None:
    world = finder.bench.world
    line = b"a" * 5_000 + b"\n"
    (world.workspace / "long.txt").write_bytes(line * 10_000)
    task = asyncio.create_task(finder.lines("(a{1,500}b)|" + "|".join(f"a{{{n}}}c" for n in range(300))))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.wait_for(finder.names("note.txt"), WAIT_S) == "note.txt"


async def test_a_cancelled_run_does_not_search(finder: Finder) -> None:
    token = CancellationToken()
    token.cancel("over")
    with pytest.raises(Exception, match="over"):
        await finder.bench.run(finder.text, token, pattern="x")
    assert finder.child.health.generation == 0


@pytest.mark.spec("R-PRJ-2", "R-EDT-2")
async def test_paths_start_in_the_project(finder: Finder, tmp_path: Path) -> None:
    project = finder.bench.world.root / "project"
    project.mkdir()
    (project / "a.txt").write_text("x\n")
    result = await finder.bench.run_in(project, finder.text, pattern="x")
    assert result.text == "a.txt\n1:x"


@pytest.mark.expects_log("ended with signal 9")
async def test_a_child_that_is_killed_costs_one_call(finder: Finder) -> None:
    assert await finder.names("note.txt") == "note.txt"
    pid = finder.child.health.pid
    assert pid is not None
    os.kill(pid, 9)
    async with asyncio.timeout(WAIT_S):
        while finder.child.health.pid == pid:
            await asyncio.sleep(0.01)
    assert await finder.names("note.txt") == "note.txt"


@pytest.mark.spec("R-EDT-2", "R-FS-9")
async def test_only_the_file_that_was_read_is_vouched_for_and_only_where_it_really_lies(bench: Bench) -> None:
    world = bench.world
    (world.workspace / "real").mkdir()
    (world.workspace / "real" / "f").write_text("x")
    (world.workspace / "way").symlink_to(world.workspace / "real")
    status = (world.workspace / "real" / "f").stat()
    boundary = BoundarySearch(world.policy)
    found = [
        FoundPath(str(world.workspace / "real" / "f"), status.st_dev, status.st_ino),
        FoundPath(str(world.workspace / "real" / "f")),
        FoundPath(str(world.workspace / "real" / "f"), status.st_dev, status.st_ino + 1),
        FoundPath(str(world.workspace / "way" / "f"), status.st_dev, status.st_ino),
        FoundPath(str(world.workspace / "gone")),
        FoundPath(str(world.outside / "secret.txt")),
    ]
    assert boundary.vouched(found) == [True, True, False, False, False, False]


@pytest.mark.spec("R-EDT-2", "R-FS-3")
async def test_a_search_is_told_beforehand_what_is_closed(bench: Bench) -> None:
    world = bench.world
    shut = world.person / "shut"
    shut.mkdir()
    world.change(allowed=(str(world.person),), denied=("~/.ssh", str(shut), str(world.person / "later")))
    area = BoundarySearch(world.policy).area(str(world.person))
    assert {str(world.ssh), str(shut), str(world.person / "later"), str(world.home / "data")} <= set(area.closed)
    objects = {(path.stat().st_dev, path.stat().st_ino) for path in (world.ssh, shut, world.home / "data")}
    assert objects <= set(area.closed_objects)
    world.change(allowed=("/",))
    assert {"/proc", "/sys", "/dev"} <= set(BoundarySearch(world.policy).area("/").closed)


@pytest.mark.spec("R-EDT-1", "R-EDT-2")
async def test_a_file_of_which_lines_were_shown_can_be_edited_and_one_that_was_only_named_cannot(bench: Bench) -> None:
    finder = Finder(bench)
    finder.text = FindText(
        BoundarySearch(bench.world.policy), finder.child, lambda: bench.world.settings, finder.rules, bench.versions
    )
    finder.made(a_txt="x\n", b_txt="y\n")
    await finder.lines("y", names_only=True)
    await finder.lines("x")
    await finder.child.stop()
    found = bench.world.workspace / "a.txt"
    assert bench.versions.seen("", str(found)) is True
    assert bench.versions.seen("", str(bench.world.workspace / "b.txt")) is None
    await bench.run(bench.edit, path="a.txt", edits=[{"old": "x", "new": "z"}])
    assert found.read_text() == "z\n"


def git(folder: Path, *words: str) -> str:
    """What the real git says there."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.spec("R-EDT-2")
@pytest.mark.parametrize("named", ["", "~/names", "/whole", '"~/names"', "~/names # mine"])
async def test_what_git_leaves_out_by_its_other_lists_is_left_out_as_git_does_it(
    finder: Finder, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    world = finder.bench.world
    monkeypatch.setenv("HOME", str(world.person))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    named = named.replace("/whole", str(world.person / "names"))
    listed = world.person / ("names" if named else ".config/git/ignore")
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text("*.tmp\n/top.txt\nkept.bak\n*.swp\n")
    if named:
        config = f"[Core]\n\tExcludesFile = {named}\n[user]\n\texcludesFile = /nowhere\n"
        (world.person / ".gitconfig").write_text(config)
    git(world.workspace, "init", "-q")
    (world.workspace / ".git" / "info" / "exclude").write_text("build/\n!kept.bak\nsub/own.md\n")
    finder.made(_gitignore="!b.swp\n", a_tmp="x", b_swp="x", c_swp="x", top_txt="x", kept_bak="x", plain_md="x")
    finder.made(sub__top_txt="x", sub__own_md="x", sub__other_md="x", build__made_md="x", sub__deep__a_tmp="x")
    theirs = set(git(world.workspace, "ls-files", "-o", "--exclude-standard").split())
    ours = (await finder.names("*")).splitlines()
    assert {line for line in ours if not line.startswith("[")} == theirs
    assert {"b.swp", "kept.bak", "plain.md", "sub/top.txt", "sub/other.md"} <= theirs
    inner = {f"sub/{one}" for one in git(world.workspace / "sub", "ls-files", "-o", "--exclude-standard").split()}
    below = [line for line in (await finder.names("*", path="sub")).splitlines() if not line.startswith("[")]
    assert set(below) == inner, "from a folder below as well"
    assert "a.tmp" in await finder.names("*", ignored=True)


@pytest.mark.spec("R-EDT-2", "R-FS-3", "R-FS-13")
@pytest.mark.parametrize("odd", ["pipe", "folder", "denied", "gone", "long"])
async def test_an_odd_list_of_the_person_leaves_nothing_out_and_holds_nothing_up(
    finder: Finder, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    world = finder.bench.world
    monkeypatch.setenv("HOME", str(world.person))
    listed = (world.ssh if odd == "denied" else world.person) / "names"
    (world.person / ".gitconfig").write_text(f"[core]\nexcludesFile = {listed}\n")
    git(world.workspace, "init", "-q")
    finder.made(a_tmp="x", b_txt="x")
    if odd == "pipe":
        os.mkfifo(listed)
    elif odd == "folder":
        listed.mkdir()
    elif odd != "gone":
        listed.write_text("*.tmp\n" if odd == "denied" else "#" * 5_000_000 + "\n*.tmp\n")
    world.change(denied=(str(world.ssh),))
    async with asyncio.timeout(WAIT_S):
        assert "a.tmp" in await finder.names("*")


@pytest.mark.spec("R-EDT-2", "R-FS-9")
@pytest.mark.parametrize("closed", [".git", ".git/info", ".git/info/exclude"])
async def test_a_repository_that_is_a_link_or_closed_leaves_nothing_out(finder: Finder, closed: str) -> None:
    world = finder.bench.world
    finder.made(a_tmp="x", elsewhere__info__exclude="*.tmp\n")
    (world.workspace / ".git").symlink_to("elsewhere")
    assert "a.tmp" in await finder.names("*.tmp")
    (world.workspace / ".git").unlink()
    git(world.workspace, "init", "-q")
    (world.workspace / ".git" / "info" / "exclude").write_text("*.tmp\n")
    assert "a.tmp" not in await finder.names("*.tmp")
    world.change(denied=(str(world.workspace / closed),))
    assert "a.tmp" in await finder.names("*.tmp"), "what is denied is not read for this either"

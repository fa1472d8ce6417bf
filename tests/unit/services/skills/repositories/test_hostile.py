"""Repositories that want more than to be read: nothing of them runs, nothing is written elsewhere or half done."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.services.skills.repositories.git import GitSurroundings
from tests.harness.timeouts import WAIT_S
from tests.unit.services.skills.repositories.kit import AUTHOR, Place, Repository, item, skill


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    yield made
    await made.close()


def nothing_left(place: Place) -> bool:
    folders = [path for path in (place.home / "data" / "repositories").glob("*") if path.is_dir()]
    return folders == [] and not list((place.home / "repositories").glob("*"))


async def test_hooks_filters_and_programs_of_a_repositorys_configuration_do_not_run(
    place: Place, tmp_path: Path
) -> None:
    bait = Repository(tmp_path / "remote" / "bait")
    bait.commit(
        {"tide/SKILL.md": skill("tide"), ".gitattributes": "* filter=bait diff=bait\n*.md export-subst ident\n"}
    )
    mark = tmp_path / "ran"
    touch = f"touch {mark}"
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.alternateRefsCommand",
        "core.gitProxy",
        "uploadpack.packObjectsHook",
        "filter.bait.smudge",
        "filter.bait.clean",
        "filter.bait.process",
        "diff.bait.textconv",
        "credential.helper",
        "alias.ls-tree",
        "remote.origin.uploadpack",
    ):
        bait.git("config", key, f"!{touch}" if key.startswith(("credential", "alias")) else touch)
    hooks = bait.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-update", "pre-receive", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\n{touch}\n")
        (hooks / name).chmod(0o755)
    view = await place.add(bait)
    await place.take(view)
    assert place.state("tide") == "ready"
    assert not mark.exists()
    assert place.taken_files("bait")["tide/SKILL.md"] == skill("tide"), "as it is stored, whatever attributes say"


async def test_the_persons_own_configuration_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "ran"
    made = Repository(tmp_path / "remote" / "skills")
    made.commit({"tide/SKILL.md": skill("tide")})
    (made.path / "gitconfig").write_text(  # where the sandbox would let git read it
        f'[core]\n\tfsmonitor = touch {mark}\n\thooksPath = {tmp_path}\n[url "file:///nowhere/"]\n\tinsteadOf = /\n'
    )
    (tmp_path / "reference-transaction").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (tmp_path / "reference-transaction").chmod(0o755)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(made.path / "gitconfig"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_SSH_COMMAND", f"touch {mark}")
    place = Place(tmp_path)
    assert [one.name for one in (await place.add(made)).items] == ["tide"]
    assert not mark.exists()
    await place.close()


async def test_git_writes_nowhere_but_in_the_folder_of_its_repository(place: Place, tmp_path: Path) -> None:
    """A program in git's place that tries, run as git is."""
    if place.confinement.probe().kind == "none":
        pytest.skip("nothing confines processes on this computer")
    secret = tmp_path / "person" / "secret"
    secret.write_text("of the person")
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(
        f"#!/bin/sh\ntouch {tmp_path}/out {place.home}/out {place.home}/skills/out /tmp/assent-out-{os.getpid()}\n"
        f"cat {secret} > seen; touch here; exit 1\n"
    )
    fake.chmod(0o755)
    made = Repository(tmp_path / "remote" / "skills")
    made.commit({"tide/SKILL.md": skill("tide")})
    other = Place(tmp_path, around=GitSurroundings(str(fake), {"PATH": os.environ["PATH"]}), name="other")
    with pytest.raises(KnownError):
        await other.add(made)
    for path in (tmp_path / "out", place.home / "out", place.home / "skills" / "out"):
        assert not path.exists()
    assert not Path(f"/tmp/assent-out-{os.getpid()}").exists()
    assert nothing_left(other)
    await other.close()


async def test_links_submodules_and_lfs_are_said_and_not_followed(place: Place, tmp_path: Path) -> None:
    made = Repository(tmp_path / "remote" / "skills")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"
    made.put({"tide/SKILL.md": skill("tide"), "tide/chart.bin": pointer, "plot/SKILL.md": skill("plot")})
    (made.path / "tide" / "passwd").symlink_to("/etc/passwd")
    (made.path / "tide" / "up").symlink_to("../..")
    (made.path / "linked").symlink_to("tide")
    made.git("add", "--all")
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    (made.path / ".gitmodules").write_text('[submodule "x"]\n\tpath = sub\n\turl = ext::sh -c touch% /tmp/x\n')
    made.git("add", ".gitmodules")
    made.git("commit", "--quiet", "--message", "x")
    view = await place.add(made)
    assert sorted(one.name for one in view.items) == ["plot", "tide"]
    assert view.modules == 1
    offer = item(view, "tide").offer
    assert offer is not None
    assert {problem.code for problem in offer.problems} == {"repository.links", "repository.lfs"}
    await place.take(view, "tide")
    assert set(place.taken_files("skills")) == {"tide/SKILL.md", "tide/chart.bin"}


def tree_with(repository: Repository, names: list[bytes], content: bytes = b"x\n") -> None:
    """A commit with files of any names, as no working copy could have them."""
    env = {**AUTHOR, "PATH": os.environ["PATH"]}

    def run(*words: str, given: bytes = b"") -> str:
        done = subprocess.run(
            ("git", *words), cwd=repository.path, env=env, input=given, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    main = run("hash-object", "-w", "--stdin", given=skill("bad").encode())
    other = run("hash-object", "-w", "--stdin", given=content)
    lines = [f"100644 blob {main}\tSKILL.md".encode()]
    lines += [f"100644 blob {other}\t".encode() + name for name in names]
    inner = run("mktree", "-z", given=b"\0".join(lines) + b"\0")
    good = run("hash-object", "-w", "--stdin", given=skill("good").encode())
    fine = run("mktree", "-z", given=f"100644 blob {good}\tSKILL.md\0".encode())
    top = run("mktree", "-z", given=f"040000 tree {inner}\tbad\0".encode() + f"040000 tree {fine}\tgood\0".encode())
    commit = run("commit-tree", top, "-m", "x")
    run("update-ref", "refs/heads/main", commit)


@pytest.mark.parametrize(
    "names",
    [
        [b".."],
        [b"a\nb"],
        [b"a\x1b[31mb"],
        [b"\xe2\x80\xaetxt.exe"],
        [b"A.md", b"a.md"],
        [b"nul"],
        [b"a\\b"],
        [b"\xff\xfe"],
    ],
    ids=["up", "line", "escape", "turned", "case", "device", "backslash", "no text"],
)
async def test_a_skill_with_hostile_names_is_kept_out_and_the_others_are_not(
    names: list[bytes], place: Place, tmp_path: Path
) -> None:
    made = Repository(tmp_path / "remote" / "skills")
    tree_with(made, names)
    view = await place.add(made)
    assert {one.name: one.status for one in view.items} == {"bad": "problem", "good": "new"}
    await place.take(view, "good")
    assert place.state("good") == "ready"


async def test_two_skills_that_differ_in_capitals_alone_cost_one_of_them_and_no_other(
    place: Place, tmp_path: Path
) -> None:
    made = Repository(tmp_path / "remote" / "skills")
    made.commit({"tide/SKILL.md": skill("tide"), "Tide/SKILL.md": skill("other"), "good/SKILL.md": skill("good")})
    view = await place.add(made)
    assert sorted(one.status for one in view.items) == ["new", "new", "problem"]
    await place.take(view, "good")
    assert place.state("good") == "ready"


async def test_a_skill_file_of_30_mb_is_a_problem_of_that_skill(place: Place, tmp_path: Path) -> None:
    made = Repository(tmp_path / "remote" / "skills")
    made.commit({"huge/SKILL.md": b"---\nname: huge\n" + b"a" * 30_000_000, "good/SKILL.md": skill("good")})
    view = await place.add(made)
    assert {one.name: one.status for one in view.items} == {"huge": "problem", "good": "new"}
    assert "30 MB" in item(view, "huge").offer.problems[0].message  # type: ignore[union-attr]


async def test_a_repository_larger_than_the_limit_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, most=2_000_000)
    made = Repository(tmp_path / "remote" / "skills")
    made.put({"tide/SKILL.md": skill("tide")})
    with open(made.path / "film.mp4", "wb") as file:
        file.write(os.urandom(5_000_000))
    made.commit()
    with pytest.raises(KnownError, match=r"larger than 2\.0 MB"):
        await place.add(made)
    assert nothing_left(place)
    await place.close()


async def test_a_commit_that_is_gone_after_a_forced_push_leaves_what_was_taken(place: Place, tmp_path: Path) -> None:
    made = Repository(tmp_path / "remote" / "skills")
    made.commit({"tide/SKILL.md": skill("tide"), "plot/SKILL.md": skill("plot")})
    await place.take(await place.add(made), "tide")
    had = place.taken_files("skills")
    made.git("checkout", "--quiet", "--orphan", "other")
    made.git("rm", "--quiet", "-rf", ".")
    made.commit({"plot/SKILL.md": skill("plot")})
    made.git("branch", "--quiet", "-M", "main")
    made.git("reflog", "expire", "--expire=now", "--all")
    made.git("gc", "--quiet", "--prune=now")
    view = await place.look("skills")
    assert item(view, "tide").status == "gone"
    assert place.taken_files("skills") == had
    assert place.state("tide") == "ready"


async def test_a_repository_that_changes_meanwhile_is_one_commit_or_the_other(place: Place, tmp_path: Path) -> None:
    made = Repository(tmp_path / "remote" / "skills")

    def commit(number: int) -> None:
        made.commit({f"s{n}/SKILL.md": skill(f"s{n}", f"Of {number}.") for n in range(20)})

    commit(0)
    ended = asyncio.Event()

    async def change() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            await asyncio.to_thread(commit, number)

    changing = asyncio.create_task(change())
    try:
        view = await place.add(made)
    finally:
        ended.set()
        await changing
    assert len({one.offer.description for one in view.items if one.offer is not None}) == 1


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://127.0.0.1:9/x/skills", "cannot be reached"),
        ("https://no-such-host.invalid/skills", "cannot be reached"),
        ("ssh://git@127.0.0.1:9/x/skills", "cannot be reached"),
    ],
)
async def test_offline_or_a_wrong_address_says_so_and_leaves_nothing(address: str, words: str, place: Place) -> None:
    with pytest.raises(KnownError, match=words) as refused:
        await place.add(address)
    assert refused.value.next_step
    assert nothing_left(place)
    assert place.shelf.sources() == ()


async def test_an_empty_repository_and_one_without_skills_say_so(place: Place, tmp_path: Path) -> None:
    empty = Repository(tmp_path / "remote" / "empty")
    with pytest.raises(KnownError, match="no commit yet"):
        await place.add(empty)
    Repository(tmp_path / "remote" / "other").commit({"README.md": "x"})
    with pytest.raises(KnownError, match="nothing in it that could be taken"):
        await place.add(tmp_path / "remote" / "other")
    broken = tmp_path / "remote" / "broken"
    (broken / ".git").mkdir(parents=True)
    with pytest.raises(KnownError, match="no git repository"):
        await place.add(broken)
    assert nothing_left(place)


async def test_a_failed_look_leaves_what_was_known(place: Place, tmp_path: Path) -> None:
    made = Repository(tmp_path / "remote" / "skills")
    made.commit({"tide/SKILL.md": skill("tide")})
    before = await place.take(await place.add(made), "tide")
    (made.path / ".git" / "HEAD").write_text("ref: refs/heads/nowhere\n")
    with pytest.raises(KnownError):
        await place.look("skills")
    assert await place.service.view("skills") == before
    assert place.state("tide") == "ready"


async def test_cancelled_it_leaves_nothing_and_no_process(place: Place, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\ncase \"$*\" in *' fetch '*) echo 'Receiving objects:  45% (9/20)'; sleep 600;; esac\n")
    fake.chmod(0o755)
    made = Repository(tmp_path / "remote" / "skills")
    made.commit({"tide/SKILL.md": skill("tide")})
    other = Place(tmp_path, around=GitSurroundings(str(fake), {"PATH": os.environ["PATH"]}), name="other")
    token = CancellationToken()
    said = asyncio.Event()

    def progress(words: str) -> None:
        if "45%" in words:
            said.set()

    adding = asyncio.create_task(other.service.add(str(made.path), token, progress))
    async with asyncio.timeout(WAIT_S):
        await said.wait()
        token.cancel()
        with pytest.raises(AssentError):
            await adding
    assert nothing_left(other)
    assert other.shelf.sources() == ()
    await other.close()


# -- archives ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../out.md", "/tmp/out.md", "a/../../out.md", "a\u202eb.md", "C:\\out.md"])
async def test_an_archive_that_leads_elsewhere_is_refused_as_a_whole(name: str, place: Place, tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tide/SKILL.md", skill("tide"))
        entry = zipfile.ZipInfo(name)
        entry.filename = name
        archive.writestr(entry, "x")
    with pytest.raises(KnownError):
        await place.add(path)
    assert nothing_left(place)
    assert not (tmp_path / "out.md").exists()


async def test_archives_with_devices_bombs_and_endless_lists_are_refused(place: Place, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "device.tar.gz", "w:gz") as tar:
        entry = tarfile.TarInfo("null")
        entry.type = tarfile.CHRTYPE
        tar.addfile(entry)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(12):
            archive.writestr(f"tide/{number}.bin", b"\0" * 19_000_000)
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(21_000):
            archive.writestr(f"{number}", b"")
    deep = tmp_path / "deep"
    (deep / ("d/" * 40)).mkdir(parents=True)
    (deep / ("d/" * 40) / "SKILL.md").write_text(skill("tide"))
    for path in ("device.tar.gz", "bomb.zip", "many.zip", "deep"):
        with pytest.raises(KnownError):
            await place.add(tmp_path / path)
        assert nothing_left(place), path


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes by name")
async def test_a_folder_with_a_pipe_is_refused_and_holds_nobody_up(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "from"
    folder.mkdir()
    (folder / "SKILL.md").write_text(skill("tide"))
    os.mkfifo(folder / "pipe")
    async with asyncio.timeout(WAIT_S):
        with pytest.raises(KnownError, match="pipe"):
            await place.add(folder)
    assert nothing_left(place)

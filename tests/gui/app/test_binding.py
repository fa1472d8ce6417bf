"""An answer holds for what was shown: whatever changes before it runs, in the whole app with real files and programs.

In each of these tests allowing would be seen: the file would be written, the program would leave its mark.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gui.app.kit import Running, call

NEW = "what the model wants to write"


async def next_request(app: Running, after: Any = None) -> Any:
    """The request that waits, another one than ``after``."""

    def fresh() -> bool:
        waiting = app.models.approvals.requests
        return bool(waiting) and (after is None or waiting[0].request_id != after.request_id)

    await app.until(fresh, "a request")
    return app.models.approvals.requests[0]


def answer(app: Running, request: Any, choice: str) -> None:
    app.models.approvals.answer(request.request_id, choice, digest=request.digest)


async def over(app: Running, calls: int) -> Any:
    """Until the last of so many calls has ended and its run with it; its card."""
    ended = {"done", "denied", "failed", "aborted"}

    def done() -> bool:
        return len(app.calls) == calls and app.calls[-1].state in ended and not app.running

    await app.until(done, f"the end of call {calls}")
    return app.calls[-1]


def changed(path: Path) -> None:
    path.write_text("somebody wrote here")


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_text(path.read_text())
    os.replace(other, path)


def deleted(path: Path) -> None:
    path.unlink()


def permitted(path: Path) -> None:
    path.chmod(0o666)


def forged(path: Path) -> None:
    """Other content of the same length, with the old times set back."""
    before = path.stat()
    path.write_text("x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def now_a_link(path: Path) -> None:
    target = path.with_name("elsewhere.txt")
    target.write_text("years of work")
    path.unlink()
    path.symlink_to(target)


CHANGES: list[Callable[[Path], None]] = [changed, replaced, deleted, permitted, forged, now_a_link]


@pytest.mark.spec("R-PRM-5", "R-FS-9")
async def test_whatever_becomes_of_the_file_before_the_answer_is_asked_about_again(start):
    rounds = [
        r for n in range(len(CHANGES)) for r in (call("write_file", path=f"{n}.txt", content=NEW), [{"text": "k"}])
    ]
    app = await start(*rounds)
    folder = app.home.path / "workspace"
    for number, change in enumerate(CHANGES):
        path = folder / f"{number}.txt"
        path.write_text("old content of the file")
        app.say("write")
        first = await next_request(app)
        change(path)
        answer(app, first, "allow_once")
        second = await next_request(app, first)
        assert (second.stale, second.digest != first.digest) == (True, True), change
        answer(app, second, "allow_once") if change is deleted else answer(app, second, "deny")
        card = await over(app, number + 1)
        written = [p.name for p in folder.rglob("*") if p.is_file() and p.read_text() == NEW]
        if change is deleted:
            assert (card.state, written) == ("done", [path.name]), "what was looked at again and allowed is written"
            path.unlink()
        else:
            assert (card.state, written) == ("denied", []), change


@pytest.mark.spec("R-PRM-5", "R-FS-2")
async def test_a_link_that_leads_elsewhere_by_now_is_asked_about_again_or_refused(start, tmp_path):
    app = await start(
        call("write_file", path="link/a.txt", content=NEW),
        [{"text": "k"}],
        call("write_file", path="new.txt", content=NEW),
        [{"text": "k"}],
        call("write_file", path="way/a.txt", content=NEW),
        [{"text": "k"}],
    )
    folder, outside = app.home.path / "workspace", tmp_path / "outside"
    for name in ("one", "two", "way"):
        (folder / name).mkdir()
    outside.mkdir()
    (folder / "link").symlink_to("one")
    app.say("through the link")
    first = await next_request(app)
    assert first.paths == (str(folder / "one" / "a.txt"),)
    (folder / "link").unlink()
    (folder / "link").symlink_to("two")
    answer(app, first, "allow_once")
    second = await next_request(app, first)
    assert second.paths == (str(folder / "two" / "a.txt"),)
    answer(app, second, "deny")
    await over(app, 1)
    app.say("a new file")
    first = await next_request(app)
    (folder / "new.txt").write_text("somebody was faster")
    answer(app, first, "allow_once")
    second = await next_request(app, first)
    assert (second.preview["new"], second.preview["before"]) == (False, "somebody was faster")
    answer(app, second, "deny")
    await over(app, 2)
    app.say("a folder that becomes a way out")
    first = await next_request(app)
    (folder / "way").rmdir()
    (folder / "way").symlink_to(outside)
    answer(app, first, "allow_once")
    card = await over(app, 3)
    assert (card.state, app.models.approvals.requests) == ("denied", ())
    assert "outside the allowed folders" in card.result
    assert not [p for p in (*folder.rglob("*"), *outside.iterdir()) if p.is_file() and p.read_text() == NEW]


@pytest.mark.spec("R-PRM-5", "R-FS-12", "R-FS-3")
async def test_a_boundary_that_was_drawn_closer_meanwhile_refuses_what_is_allowed_then(start):
    app = await start(call("write_file", path="a/b.txt", content=NEW), [{"text": "k"}])
    settings, folder = app.models.settings, app.home.path / "workspace"
    app.say("write")
    request = await next_request(app)
    denied = (*settings.get("security.denied_paths"), str(folder / "a"))
    settings.set("security.denied_paths", denied)
    await app.until(lambda: settings.get("security.denied_paths") == denied, "the setting")
    answer(app, request, "allow_once")
    card = await over(app, 1)
    assert card.state == "denied"
    assert "inside the denied path" in card.result
    assert not (folder / "a").exists()


@pytest.mark.spec("R-PRM-5", "R-BLT-2")
async def test_a_command_is_bound_to_its_folder_its_script_and_the_network_it_was_shown_with(start):
    one = [call("bash", command="sh make.sh; touch mark"), [{"text": "k"}]]
    app = await start(*one * 3)
    settings, folder = app.models.settings, app.home.path / "workspace"
    settings.set("tools.commands_first", "ask")
    await app.until(lambda: settings.get("tools.commands_first") == "ask", "the setting")
    script = folder / "make.sh"
    script.write_text("echo harmless")

    async def network() -> None:
        settings.set("tools.bash.network", "always")
        await app.until(lambda: settings.get("tools.bash.network") == "always", "the setting")

    async def another_script() -> None:
        script.write_text("echo something else entirely")

    async def another_folder() -> None:
        folder.rename(folder.with_name("workspace-before"))
        folder.mkdir()
        script.write_text("echo something else entirely")

    for number, change in enumerate((network, another_script, another_folder)):
        app.say("run")
        first = await next_request(app)
        await change()
        answer(app, first, "allow_once")
        second = await next_request(app, first)
        assert second.stale, change
        answer(app, second, "deny")
        assert (await over(app, number + 1)).state == "denied"
    assert not list(app.home.path.rglob("mark"))


MARK = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"


def declared(word: str, *, name: str = "leave-mark", more: str = "") -> str:
    return (
        f"tools:\n  - name: {name}\n    description: Leaves a mark\n    category: write\n    cmd: {sys.executable}\n"
        f'    args: ["-I", "-c", "{MARK}", "{{{{file}}}}", "{word}"]\n{more}'
        "    parameters: {file: {type: string}}\n"
    )


@pytest.mark.spec("R-PRM-5", "R-CLI-14", "R-TOOL-8")
@pytest.mark.parametrize(
    ("text", "word"),
    [
        (declared("other"), "was changed"),
        (declared("shown", more="    env: {EXTRA: yes-please}\n"), "was changed"),
        (declared("shown", name="another-name"), "was removed"),
    ],
    ids=["other arguments", "another environment", "gone"],
)
async def test_a_tool_that_was_declared_anew_between_request_and_answer_runs_neither_old_nor_new(
    start, tmp_path, text, word
):
    path = tmp_path / "home" / "tools.yaml"
    path.parent.mkdir(mode=0o700)
    path.write_text(declared("shown"))
    app = await start(call("leave_mark", file="mark"), [{"text": "k"}])
    await app.until(lambda: app.models.cli.rows, "the tool")
    app.say("mark")
    request = await next_request(app)
    before = app.startup._services.tools.find("leave-mark")
    path.write_text(text)
    app.models.cli.look_at_file()
    await app.until(lambda: app.startup._services.tools.find("leave-mark") is not before, "the file taken over")
    answer(app, request, "allow_once")
    card = await over(app, 1)
    assert (card.state, app.models.approvals.requests) == ("denied", ())
    assert word in card.result
    assert not (app.home.path / "workspace" / "mark").exists()


@pytest.mark.spec("R-PRM-5", "R-CLI-14")
async def test_a_file_read_again_without_a_change_to_the_tool_voids_nothing(start, tmp_path):
    path = tmp_path / "home" / "tools.yaml"
    path.parent.mkdir(mode=0o700)
    path.write_text(declared("shown"))
    app = await start(call("leave_mark", file="mark"), [{"text": "k"}])
    await app.until(lambda: app.models.cli.rows, "the tool")
    app.say("mark")
    request = await next_request(app)
    before = app.startup._services.tools.find("leave-mark")
    path.write_text("# a comment\n\n" + declared("shown"))
    app.models.cli.look_at_file()
    await app.until(lambda: app.startup._services.tools.find("leave-mark") is not before, "the file taken over")
    answer(app, request, "allow_once")
    assert (await over(app, 1)).state == "done"
    assert (app.home.path / "workspace" / "mark").read_text() == "shown"


@pytest.mark.spec("R-PRM-5", "R-ENV-3", "R-CLI-2")
async def test_a_program_that_is_another_by_now_is_asked_about_again_and_a_host_value_is_that_of_the_call(
    start, tmp_path, monkeypatch
):
    """Which program runs was shown. The value of a variable that was declared was not: it is read at the call."""
    programs = tmp_path / "home" / "workspace" / "programs"  # elsewhere in /tmp the confinement shows none
    for name, text in (("first", "one"), ("second", "two")):
        (programs / name).mkdir(parents=True)
        made = programs / name / "leave-it"
        made.write_text(f'#!/bin/sh\nprintf "{text} $WORD" > "$1"\n')
        made.chmod(0o755)
    monkeypatch.setenv("HOST_WORD", "before")
    monkeypatch.setenv("PATH", f"{programs / 'first'}:{os.environ['PATH']}")
    home = tmp_path / "home"
    home.chmod(0o700)
    (home / "tools.yaml").write_text(
        "tools:\n  - name: leave-it\n    description: Leaves it\n    category: write\n    cmd: leave-it\n"
        '    args: ["{{file}}"]\n    env: {WORD: "${HOST_WORD}"}\n    parameters: {file: {type: string}}\n'
    )
    app = await start(call("leave_it", file="mark"), [{"text": "k"}])
    await app.until(lambda: app.models.cli.rows, "the tool")
    app.say("mark")
    first = await next_request(app)
    assert first.preview["program"] == str(programs / "first" / "leave-it")
    assert "before" not in repr(first)
    monkeypatch.setenv("PATH", f"{programs / 'second'}:{os.environ['PATH']}")
    answer(app, first, "allow_once")
    second = await next_request(app, first)
    assert second.preview["program"] == str(programs / "second" / "leave-it")
    assert not (app.home.path / "workspace" / "mark").exists()
    monkeypatch.setenv("HOST_WORD", "after")
    answer(app, second, "allow_once")
    assert (await over(app, 1)).state == "done", app.calls[0].result
    assert (app.home.path / "workspace" / "mark").read_text() == "two after"


@pytest.mark.spec("R-PRM-5", "R-SK-14")
async def test_a_skill_file_that_is_another_by_now_runs_neither_as_it_was_nor_as_it_is(start, tmp_path):
    skills = tmp_path / "home" / "skills"
    skills.mkdir(parents=True, mode=0o700)
    (tmp_path / "home").chmod(0o700)
    text = (
        'frontmatter = {"name": "leave-mark", "description": "Leaves a mark", "metadata": {"category": "write"}}\n\n\n'
        'async def run(ctx, args):\n    return "%s"\n'
    )
    path = skills / "leave-mark.skill.py"
    path.write_text(text % "one")
    app = await start(call("skill_invoke", ref="leave-mark"), [{"text": "k"}])
    app.say("mark")
    request = await next_request(app)
    assert request.tool == "leave-mark"
    path.write_text(text % "two")
    answer(app, request, "allow_once")

    def settled() -> bool:
        waiting = app.models.approvals.requests
        return bool(waiting and waiting[0] != request) or not app.running

    await app.until(settled, "asked again, or refused")
    for again in app.models.approvals.requests:
        assert again.stale
        answer(app, again, "deny")
    await app.until(lambda: not app.running, "the end")
    results = " ".join(card.result for card in app.calls)
    assert "denied" in {card.state for card in app.calls}
    assert "one" not in results
    assert "two" not in results

"""The folder that an editor has open: its thread works there once the person agreed to that folder (R-PRJ-1)."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError

from tests.end2end.editor import call, editing, make_home, rows

LOOKS = (
    call("read_file", path="plan.txt"),
    call("bash", command="pwd"),
    call("write_file", path="made.txt", content="made\n"),
    [{"text": "Done."}],
)


def folder(path: Path) -> Path:
    path.mkdir()
    (path / "plan.txt").write_text("the plan\n")
    (path / "AGENTS.md").write_text("Say hello.\n")
    return path


class Person:
    """Answers the question about the folder as they like, and allows calls."""

    def __init__(self, folder: Any) -> None:
        self.folder, self.questions = folder, list[Any]()

    def __call__(self, asked: Any, _options: list[Any]) -> Any:
        if asked.tool_call_id != "folder":
            return "allow_once"
        self.questions.append(asked)
        return self.folder


def projects(home: Path) -> list[str]:
    return [row[0] for row in rows(home, "SELECT project FROM threads ORDER BY created_at")]


@pytest.mark.spec("R-PRJ-1", "R-PRJ-2", "R-ACP-3")
async def test_a_thread_works_in_the_editors_folder_once_the_person_agreed_to_it(tmp_path: Path) -> None:
    project, home = folder(tmp_path / "tides"), make_home(tmp_path / "h", *LOOKS, *LOOKS, [{"text": "Done."}])
    async with editing(home, person := Person("allow_always")) as editor:
        session = await editor.begin(project)
        assert person.questions == [], "a thread in which nothing is said asks nothing"
        await editor.say(session, "Look")
        (asked,) = person.questions
        assert asked.title == f"Work in the folder {project}?"
        shown = json.dumps(editor.asked[0]["call"])
        assert "Commands then start in it" in shown
        assert "AGENTS.md" in shown, "what it brings is said before the answer"
        assert editor.states("folder") == ["pending", "completed"]
        last = [one for one in editor.updates("tool_call_update") if one["toolCallId"] == "call-2"][-1]
        assert str(project) in last["content"][0]["content"]["text"]
        assert (project / "made.txt").read_text() == "made\n"
        assert "(inside the project)" in json.dumps(editor.asked[-1]["call"])
        write = next(one for one in editor.updates("tool_call") if one["title"].startswith("write-file"))
        assert write["locations"] == [{"path": str(project / "made.txt")}]
        other = str((await editor.conn.new_session(cwd=str(project), mcp_servers=[])).session_id)
        await editor.say(other, "Look again")
        assert len(person.questions) == 1, "they agreed from now on"
        person.folder = "deny"
        beside = folder(tmp_path / "beside")
        third = str((await editor.conn.new_session(cwd=str(beside), mcp_servers=[])).session_id)
        await editor.say(third, "And here")
        assert len(person.questions) == 2, "to that folder, and to no other"
    assert projects(home) == [str(project), str(project), ""]
    told, _ = [row[0] for row in rows(home, "SELECT text FROM blocks WHERE kind = 'file' ORDER BY rowid")][1:]
    assert told.endswith("You work in it: commands run there, and relative paths begin there.")


@pytest.mark.spec("R-PRJ-1", "R-ACP-3")
@pytest.mark.parametrize("answer", ["deny", None, "", "allow_run", "+network"])
async def test_without_a_yes_nothing_is_opened_and_it_is_asked_once(tmp_path: Path, answer: Any) -> None:
    project, home = folder(tmp_path / "tides"), make_home(tmp_path / "h", *LOOKS, [{"text": "More."}])
    async with editing(home, person := Person(answer)) as editor:
        session = await editor.begin(project)
        await editor.say(session, "Look")
        await editor.say(session, "Again")
        assert len(person.questions) == 1
        assert editor.states("folder") == ["pending", "failed"]
        assert "the plan" not in json.dumps(editor.told)
        assert f"> The folder {project} is outside what agents may use" in editor.said()
    assert (home / "workspace" / "made.txt").exists(), "it works where it would without an editor"
    assert not (project / "made.txt").exists()
    assert projects(home) == [""]


@pytest.mark.spec("R-PRJ-1")
async def test_a_yes_for_one_thread_is_none_for_the_next_and_stays_with_its_thread(tmp_path: Path) -> None:
    project, home = folder(tmp_path / "tides"), make_home(tmp_path / "h", *LOOKS, *LOOKS, *LOOKS)
    async with editing(home, person := Person("allow_once")) as editor:
        first = await editor.begin(project)
        await editor.say(first, "Look")
        person.folder = "deny"
        second = str((await editor.conn.new_session(cwd=str(project), mcp_servers=[])).session_id)
        await editor.say(second, "Look")
        assert len(person.questions) == 2
    assert projects(home) == [str(project), ""]
    async with editing(home, person := Person("deny")) as editor:
        await editor.greet()
        await editor.conn.load_session(cwd=str(project), session_id=first, mcp_servers=[])
        await editor.say(first, "Once more")
        assert person.questions == []
        assert str(project) in json.dumps(editor.updates("tool_call_update")[-3:])


@pytest.mark.spec("R-PRJ-1")
@pytest.mark.expects_log("cancel_request")  # the SDK's client knows it not yet, and says so
async def test_a_prompt_that_is_stopped_while_it_is_asked_begins_nothing_and_opens_nothing(tmp_path: Path) -> None:
    never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    project, home = folder(tmp_path / "tides"), make_home(tmp_path / "h", *LOOKS)
    async with editing(home, person := Person(never)) as editor:
        session = await editor.begin(project)
        going = asyncio.create_task(editor.say(session, "Look"))
        await editor.until(lambda: person.questions)
        await editor.conn.cancel(session_id=session)
        assert await going == "cancelled"
        never.set_result("allow_always")  # too late: nobody waits for it
        assert editor.said() == ""
    assert rows(home, "SELECT thread_id FROM threads") == []


@pytest.mark.spec("R-PRJ-1", "R-PRJ-2", "R-FS-2")
@pytest.mark.parametrize(
    "odd", ["gone", "file", "root", "home", "of the app", "denied", "link to denied", "unreadable"]
)
async def test_a_folder_that_no_thread_can_work_in_is_not_asked_about(tmp_path: Path, odd: str) -> None:
    home = make_home(tmp_path / "h", *LOOKS)
    secret = folder(tmp_path / "secret")
    (home / "config.yaml").write_text(
        f"models:\n  default: scripted/scripted\nsecurity:\n  denied_paths: ['{secret}']\n"
    )
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "way").symlink_to(secret)
    closed = folder(tmp_path / "closed")
    if odd == "unreadable" and os.geteuid() == 0:
        pytest.skip("this user may read everywhere")
    closed.chmod(0 if odd == "unreadable" else 0o755)
    path = {
        "gone": tmp_path / "gone",
        "file": tmp_path / "file",
        "root": Path("/"),
        "home": Path.home(),
        "of the app": home / "data",
        "denied": secret,
        "link to denied": tmp_path / "way",
        "unreadable": closed,
    }[odd]
    async with editing(home, person := Person("allow_always")) as editor:
        await editor.say(await editor.begin(path), "Look")
        assert person.questions == []
        assert "the plan" not in json.dumps(editor.told)
    closed.chmod(0o755)
    assert projects(home) == [""]


@pytest.mark.spec("R-PRJ-1", "R-FS-2")
async def test_of_a_link_the_real_folder_is_named_and_one_that_is_swapped_meanwhile_opens_nothing(
    tmp_path: Path,
) -> None:
    real, beside = folder(tmp_path / "real"), folder(tmp_path / "beside")
    (tmp_path / "way").symlink_to(real)
    home = make_home(tmp_path / "h", *LOOKS)

    class Swaps(Person):
        def __call__(self, asked: Any, options: list[Any]) -> Any:
            answer = super().__call__(asked, options)
            if asked.tool_call_id == "folder":
                (tmp_path / "way").unlink()
                (tmp_path / "way").symlink_to(beside)
            return answer

    async with editing(home, person := Swaps("allow_always")) as editor:
        await editor.say(await editor.begin(tmp_path / "way"), "Look")
        (asked,) = person.questions
        assert asked.title == f"Work in the folder {real}?"
        assert "is a link to" in json.dumps(editor.asked[0]["call"])
    assert projects(home) == [""], "they agreed to another folder"
    assert not (beside / "made.txt").exists()


@pytest.mark.spec("R-PRJ-3")
async def test_what_stands_in_its_agents_md_allows_nothing_and_odd_ones_are_left_out(tmp_path: Path) -> None:
    project = folder(tmp_path / "tides")
    (project / "AGENTS.md").write_bytes(b"x" * 5_000_000)
    os.mkfifo(project / "CLAUDE.md")
    home = make_home(tmp_path / "h", call("write_file", path="plan.txt", content="x"), [{"text": "Done."}])
    async with editing(home, person := Person("allow_always")) as editor:
        person_allows = editor.answer
        editor.answer = lambda asked, options: (
            person_allows(asked, options) if asked.tool_call_id == "folder" else "deny"
        )
        await editor.say(await editor.begin(project), "Look")
        assert len(person.questions) == 1
        assert len(editor.asked) == 2, "the folder, and then the call itself"
    assert (project / "plan.txt").read_text() == "the plan\n"
    assert projects(home) == [str(project)]


async def test_a_session_with_a_folder_that_is_no_path_is_refused(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", *LOOKS)
    async with editing(home, person := Person("allow_always")) as editor:
        await editor.greet()
        for odd in ("", "tides", "~/tides", "/a\nb", "/\u202eb"):
            with pytest.raises(RequestError, match="absolute path"):
                await editor.conn.new_session(cwd=odd, mcp_servers=[])
        assert person.questions == []

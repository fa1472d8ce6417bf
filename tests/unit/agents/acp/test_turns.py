"""A turn of an agent of another maker: what it says, reads, writes and runs goes the way of every other agent's."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError
from desktop.domain.runs.events import ToolCallOutput
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.acp.kit import SERVERS, Desk, desk, shown


async def answered(d: Desk, *orders: str) -> list[str]:
    """What comes of orders in a new chat, without the orders themselves."""
    return (await d.says(await d.thread(), *orders))[1:]


@pytest.mark.spec("R-ACP-1", "R-ACP-2")
async def test_what_it_says_is_the_answer_and_its_files_commands_and_tools_are_our_calls(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_once") as d:
        (d.workspace / "note.txt").write_text("one\ntwo\n")
        await d.switched_on()
        orders = ("say Hello.", "read note.txt", "write new.txt made", "run cat new.txt")
        assert await answered(d, *orders) == [
            "assistant: Hello.",
            "calls read-file",
            "done one\ntwo",
            "assistant: one\ntwo",
            "calls write-file",
            f"done Created {d.workspace}/new.txt, 4 bytes.",
            "assistant: written",
            "calls bash",
            "done made",
            "assistant: exit 0: made",
        ]
        assert [(one.tool, one.chain) for one in d.asked.requests] == [
            ("write-file", ("acp_honest",)),
            ("bash", ("acp_honest",)),
        ], "what it reads asks nobody"
        assert await d.log() == ["bash allow_once", "write-file allow_once", "read-file allow_once"]
        (offered,) = await answered(d, "tools")
        assert {"bash", "list_directory", "read_file", "write_file"} <= set(offered.split()[1:])
        called = await answered(d, 'tool write_file {"path": "c.txt", "content": "c"}')
        assert called[0] == "calls write_file"
        assert (d.workspace / "c.txt").read_text() == "c"


@pytest.mark.spec("R-WEB-3", "R-ACP-2")
@pytest.mark.parametrize(
    ("terms", "orders", "follows"),
    [
        ({"network": True}, ["write new.txt made"], "text of Honest's own reading (not seen here) was read"),
        ({}, ["read note.txt", "write new.txt made"], ""),
        ({}, ["did fetch a page", "write new.txt made"], "text of Honest was read"),
        ({}, ["did read a file", "write new.txt made"], ""),
    ],
    ids=["with the network", "without", "that says it fetched", "that says it read a file"],
)
async def test_what_it_may_have_read_by_itself_is_said_when_it_writes(
    tmp_path: Path, terms: dict[str, bool], orders: list[str], follows: str
) -> None:
    async with desk(tmp_path, "allow_once") as d:
        (d.workspace / "note.txt").write_text("one")
        await d.switched_on(**terms)
        await answered(d, *orders)
        (request,) = [one for one in d.asked.requests if one.tool == "write-file"]
        assert request.follows == (f"{follows} since your last message" if follows else "")


@pytest.mark.spec("R-ACP-2")
async def test_a_refusal_of_ours_reaches_it_and_nothing_outside_is_read_written_or_run(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_once") as d:
        await d.switched_on()
        outside = tmp_path / "outside.txt"
        orders = ("read nope", "read /etc/shadow", f"write {outside} x", "run sudo ls", f"self-write {outside} x")
        told = [line for line in await answered(d, *orders) if line.startswith("assistant")]
        assert [line.split(":")[1].strip()[:7] for line in told[:3]] == ["refused"] * 3
        assert "exit 126: Blocked: 'sudo'" in told[3]
        assert "by itself: Read-only" in told[3]
        assert not outside.exists()
        assert d.asked.requests == [], "nobody is asked about what is refused anyway"


@pytest.mark.spec("R-ACP-2")
async def test_what_a_person_allowed_ahead_of_the_very_call_is_not_asked_twice_and_anything_else_is(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path, "allow_once") as d:
        await d.switched_on()
        (d.workspace / "b.txt").write_text("head\nold\ntail\n")
        told = await answered(d, "ask-write a.txt hey", "write a.txt hey", "ask-part b.txt old new")
        assert [line for line in told if line.startswith("assistant")] == [
            "assistant: selected once, written",
            "assistant: written",
            "assistant: selected once, written",
        ]
        assert [(one.tool, one.category, one.preview["kind"]) for one in d.asked.requests] == [
            ("acp-asks", Category.WRITE, "diff"),
            ("write-file", Category.WRITE, "diff"),
            ("acp-asks", Category.WRITE, "diff"),
        ], "the second write is another call: the file is another one by then"
        assert d.asked.requests[2].preview["after"] == "head\nnew\ntail\n", "a part is shown within its file"
        assert (d.workspace / "b.txt").read_text() == "head\nnew\ntail\n"


@pytest.mark.spec("R-ACP-2")
async def test_what_it_was_allowed_and_writes_itself_meanwhile_is_not_written_or_asked_about_again(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path, "allow_once") as d:
        await d.switched_on()
        await d.switched("honest", writes=True)
        told = await answered(d, "ask-both a.txt hey")
        assert told[-1] == "assistant: selected once"
        assert [request.tool for request in d.asked.requests] == ["acp-asks"]
        assert not [line for line in await d.log() if line.startswith("write-file")]
        assert (d.workspace / "a.txt").read_text() == "hey"


@pytest.mark.spec("R-ACP-2")
async def test_a_yes_to_one_change_is_none_to_another(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_once", "deny") as d:
        await d.switched_on()
        told = await answered(d, "ask-other a.txt hey")
        assert [request.tool for request in d.asked.requests] == ["acp-asks", "write-file"]
        assert "refused" in told[-1]
        assert not (d.workspace / "a.txt").exists()


@pytest.mark.spec("R-ACP-2")
async def test_its_request_for_permission_is_ours_and_always_is_never_taken(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_run", "deny") as d:
        await d.switched_on()
        told = await answered(d, "ask execute Run what I like", "ask edit Change it", "ask search Look around")
        said = [line.split("\n") for line in told if line.startswith("assistant")]
        assert said == [["assistant: selected once"], ["assistant: selected no"], ["assistant: selected once"]]
        first, second = d.asked.requests
        assert (first.category, second.category) == (Category.ADMIN, Category.WRITE), "the less is known the graver"
        assert first.arguments["says"] == "Run what I like"
        assert first.preview["said_by"] == "Honest"


@pytest.mark.spec("R-ACP-2")
async def test_a_yes_to_its_request_is_never_remembered(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_always", "allow_run", "deny") as d:
        await d.switched_on()
        before = d.services.rules.book.kept
        told = await answered(d, "ask edit Change it", "ask edit Change it", "ask edit Change it")
        assert [line for line in told if line.startswith("assistant")] == [
            "assistant: selected once",
            "assistant: selected once",
            "assistant: selected no",
        ]
        assert [request.tool for request in d.asked.requests] == ["acp-asks"] * 3
        assert d.services.rules.book.kept == before


@pytest.mark.spec("R-ACP-2")
async def test_a_write_outside_that_it_asks_for_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_once") as d:
        await d.switched_on()
        told = await answered(d, f"ask-write {tmp_path / 'outside.txt'} x")
        assert told[-1] == "assistant: selected no"
        assert d.asked.requests == []


@pytest.mark.spec("R-ACP-2")
async def test_what_it_does_by_itself_is_confined_and_put_down_in_its_own_words(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on()
        told = await answered(d, "self-write y.txt ho", "did search Grep append( in ingest")
        assert told == [
            "assistant: by itself: Read-only file system",
            "calls acp-did",
            "done Honest says that it is done.",
        ]
        assert not (d.workspace / "y.txt").exists()
        assert await d.log() == ["acp-did allow_once"]
        await d.switched("honest", writes=True)
        assert "written" in (await answered(d, "self-write y.txt ho"))[0]
        assert (d.workspace / "y.txt").read_text() == "ho"


@pytest.mark.spec("R-ACP-2")
async def test_a_command_that_it_kills_ends_and_what_it_wrote_is_kept(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_once") as d:
        await d.switched_on()
        begun = d.workspace / "begun"

        def seen(event: object) -> None:
            if isinstance(event, ToolCallOutput) and "hello" in event.text:
                begun.touch()  # what the command itself makes is in its copy, which the agent does not see

        d.services.bus.listen(seen)
        told = await answered(d, "kill echo hello; sleep 3600.5 & wait", "run echo and on")
        early = "[Ended by whoever asked for it, with everything it had started.]"
        assert told == [
            "calls bash",
            f"failed {early}\nhello",
            f"assistant: None SIGTERM: {early}\nhello",
            "calls bash",
            "done and on",
            "assistant: exit 0: and on",
        ]


@pytest.mark.spec("R-ACP-2")
async def test_a_command_that_it_lets_go_of_while_a_person_is_asked_is_not_run_and_the_question_closes(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path, "allow_once") as d:
        d.asked.go_on = asyncio.Event()  # the person has not answered
        await d.switched_on()
        told = await answered(d, "release touch made")
        assert told[-1] == "assistant: released"
        assert not (d.workspace / "made").exists()
        d.asked.go_on.set()
        assert (await answered(d, "run echo on"))[-1] == "assistant: exit 0: on"
        assert not (d.workspace / "made").exists(), "a late yes gives nothing"


@pytest.mark.spec("R-ACP-1")
async def test_it_is_off_until_it_was_looked_at_and_off_again_when_its_program_changes(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        program = d.workspace / "agent"
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
        await d.added("mine", str(program))
        agents = d.services.others.agents
        assert agents.row("mine").standing == "new"
        assert "acp_mine" not in d.services.agents.agents
        await d.switched("mine")
        assert "acp_mine" in d.services.agents.agents
        thread = await d.thread("mine")
        assert "exit code 3" in (await d.says(thread, "say x"))[-1], "it was started"
        program.write_text("#!/bin/sh\nexit 4\n")
        assert "its program has changed since you looked at it" in (await d.says(thread, "say x"))[-1]
        assert agents.row("mine").standing == "changed"
        assert "acp_mine" not in d.services.agents.agents


async def is_ended_before_it_hears(d: Desk, program: Path) -> None:
    """An agent that changes what was looked at while it starts."""
    program.chmod(0o755)
    await d.added("mine", str(program))
    await d.switched("mine", writes=True)
    told = await d.says(await d.thread("mine"), "say I heard it")
    assert "The program of Mine was changed while it was being started, so it was ended." in told[-1]
    assert "heard" not in told[-1]


@pytest.mark.spec("R-ACP-1")
@pytest.mark.parametrize(
    "how", ["touch {0}", "mv {0} {0}.aside && mv {0}.aside {0}", "cp {0} {0}.new && mv {0}.new {0}"]
)
async def test_one_whose_program_is_exchanged_while_it_starts_is_ended_before_it_hears_anything(
    tmp_path: Path, how: str
) -> None:
    async with desk(tmp_path) as d:
        program = d.workspace / "agent"
        program.write_text(f"#!/bin/sh\n{how.format(program)}\nexec {sys.executable} {SERVERS / 'honest.py'}\n")
        await is_ended_before_it_hears(d, program)


@pytest.mark.spec("R-ACP-1")
async def test_one_of_whose_package_a_file_is_exchanged_while_it_starts_is_ended_before_it_hears_anything(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as d:
        program = d.workspace / "node_modules/pkg/bin/agent"
        program.parent.mkdir(parents=True)
        part = program.parents[1] / "part.js"
        part.write_text("one();\n")
        program.write_text(f"#!/bin/sh\necho 'two();' > {part}\nexec {sys.executable} {SERVERS / 'honest.py'}\n")
        await is_ended_before_it_hears(d, program)


@pytest.mark.spec("R-ACP-1")
@pytest.mark.parametrize("place", ["node_modules/pkg/bin", "lib/node_modules/@scope/pkg/bin", "venv/bin"])
async def test_a_file_of_its_package_that_was_changed_switches_it_off(tmp_path: Path, place: str) -> None:
    async with desk(tmp_path) as d:
        program = d.workspace / place / "agent"
        inner = {"venv/bin": d.workspace / "venv/lib/python3.11/site-packages/pkg"}.get(place, program.parents[1])
        part = inner / "part.js"
        for folder in (program.parent, inner):
            folder.mkdir(parents=True, exist_ok=True)
        (d.workspace / "venv").mkdir(exist_ok=True)
        (d.workspace / "venv/pyvenv.cfg").touch()
        part.write_text("one();\n")
        program.write_text(f"#!/bin/sh\nexec {sys.executable} {SERVERS / 'honest.py'}\n")
        program.chmod(0o755)
        await d.added("mine", str(program))
        await d.switched("mine")
        thread = await d.thread("mine")
        assert (await d.says(thread, "say fine"))[-1] == "assistant: fine"
        before = part.stat()
        part.write_text("two();\n")
        os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (part.stat().st_size, part.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        assert "its program has changed since you looked at it" in (await d.says(thread, "say fine"))[-1]


@pytest.mark.spec("R-ACP-1")
async def test_the_script_that_an_interpreter_is_started_with_is_part_of_what_was_looked_at(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        script = d.workspace / "agent.sh"
        script.write_text("exit 3\n")
        await d.added("mine", "/bin/sh", str(script))
        await d.switched("mine")
        thread = await d.thread("mine")
        assert "exit code 3" in (await d.says(thread, "say x"))[-1]
        script.write_text("exit 4\n")
        assert "its program has changed since you looked at it" in (await d.says(thread, "say x"))[-1]


@pytest.mark.spec("R-ACP-1")
async def test_a_program_that_was_not_read_since_the_start_is_not_switched_on_before_it_is(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.added("mine", sys.executable, str(SERVERS / "honest.py"))
    async with desk(tmp_path) as d:
        await d.services.others.agents.opened()
        with pytest.raises(KnownError, match="still being read"):
            await d.switched("mine")
        await d.services.others.agents.look()
        await d.switched("mine")
        assert d.services.others.agents.row("mine").standing == "on"


@pytest.mark.spec("R-ACP-1")
async def test_a_stop_ends_its_turn_and_the_chat_goes_on_with_a_session_that_knows_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on()
        thread = await d.thread()
        assert (await d.says(thread, "turns"))[-1] == "assistant: turn 1"
        await d.services.chats.send(thread, "say I wait\nwait\nsay never")
        async with asyncio.timeout(WAIT_S):
            while not any("I wait" in str(getattr(event, "text", "")) for event in d.events):
                await asyncio.sleep(0.01)
        await d.services.chats.stop(thread)
        assert await d.services.chats.wait(thread, WAIT_S)
        told = await d.says(thread, "turns")
        assert "assistant: I wait" in told
        assert told[-1] == "assistant: turn 1", "what it knew was no longer what the chat holds: a new session"


@pytest.mark.spec("R-ACP-1")
async def test_its_session_is_gone_on_with_in_another_turn_and_after_a_restart(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on()
        thread = await d.thread()
        await d.says(thread, "turns")
        assert (await d.says(thread, "turns"))[-1] == "assistant: turn 2"
    async with desk(tmp_path) as d:
        await d.services.others.agents.opened()
        assert (await d.says(thread, "turns"))[-1] == "assistant: turn 101", "it was loaded, and nothing said twice"


@pytest.mark.spec("R-ACP-1")
async def test_its_plan_stands_in_the_chat_as_it_left_it_also_after_a_restart(tmp_path: Path) -> None:
    stands = ["calls acp-did", "done done: Read\nnow: Change\nnext: Test"]
    async with desk(tmp_path) as d:
        await d.switched_on()
        thread = await d.thread()
        told = await d.says(thread, "plan Look | Read", "say Reading.", "plan Read | Change | Test", "say On it.")
        assert told[-2:] == stands
        assert told.count("calls acp-did") == 1, "once, and not each of its versions"
        assert (await d.says(thread, "say No plan."))[-1] == "assistant: No plan."
    async with desk(tmp_path) as d:
        assert [line for line in shown(await d.services.chats.path(thread)) if line in stands] == stands


@pytest.mark.spec("R-ACP-2")
async def test_what_it_did_by_itself_is_not_put_down_as_a_plan(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on("planner", "hostile.py", "acts_as_plan")
        told = await d.says(await d.thread("planner"), "go")
        assert told[-1] == "done Planner says that it is done."


@pytest.mark.spec("R-ACP-1")
async def test_plan_mode_and_usage_are_what_it_reports_and_a_budget_ends_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on()
        thread = await d.thread()
        await d.says(thread, "plan Read | Change | Test", "cost 0.25", "use 1200", "say ok")
        state = d.services.others.state(thread)
        assert state is not None
        assert [(one.text, one.status) for one in state.plan.entries] == [
            ("Read", "completed"),
            ("Change", "in_progress"),
            ("Test", "pending"),
        ]
        assert (state.used, state.size, state.usd) == (62_000, 200_000, 0.25)
        mode = state.choice("mode")
        assert mode is not None
        assert (mode.shown, [one.name for one in mode.options]) == ("Build mode", ["Build mode", "Plan mode"])
        session = d.services.others.session(thread)
        assert session is not None
        await session.choose("mode", "plan")
        assert state.choice("mode").shown == "Plan mode"  # type: ignore[union-attr]
        record = await d.services.chats.thread(thread)
        assert (record.usage.input_tokens, record.usage.cost_usd) == (1200, 0.25)


@pytest.mark.spec("R-ACP-2")
async def test_other_folders_and_other_terms_end_what_was_started_under_the_old_ones(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on()
        for change in ("folders", "terms", "off"):
            thread = await d.thread()
            await d.services.chats.send(thread, "say I wait\nwait\nsay never")
            sessions = d.services.others
            async with asyncio.timeout(WAIT_S):
                while (found := sessions.session(thread)) is None or not found.at_work:
                    await asyncio.sleep(0.01)
            if change == "folders":
                await d.services.settings.update("security.denied_paths", (str(d.workspace / "closed"),))
            elif change == "terms":
                await d.switched("honest", writes=True)
            else:
                await sessions.agents.switch_off("honest")
            assert await d.services.chats.wait(thread, WAIT_S)
            told = shown(await d.services.chats.path(thread))
            assert "What Honest may do was changed, so it was ended." in told[-1], change
            assert sessions.session(thread) is None


@pytest.mark.spec("R-PRJ-1", "R-PRJ-2", "R-ACP-2")
async def test_in_a_chat_with_a_project_it_starts_there_and_moves_with_the_chat(tmp_path: Path) -> None:
    project, other = tmp_path / "tides", tmp_path / "report"
    for folder in (project, other, tmp_path / "home"):
        folder.mkdir()
    async with desk(tmp_path / "home", "allow_once") as d:
        await d.switched_on(writes=True)
        chat = await d.thread()
        await d.services.chats.set_project(chat, str(project))
        orders = ("write new.txt made", "run pwd", "self-write own.txt x", f"self-write {d.workspace}/own.txt x")
        told = [line for line in (await d.says(chat, *orders)) if line.startswith("assistant")]
        assert (project / "new.txt").read_text() == "made"
        assert str(project) in told[1]
        assert (project / "own.txt").read_text() == "x"
        elsewhere = [line for line in await d.says(chat, f"self-write {other}/own.txt x") if "itself" in line]
        assert not (other / "own.txt").exists(), elsewhere
        await d.services.chats.set_project(chat, str(other))
        await d.says(chat, "write new.txt moved", "self-write own.txt x")
        assert (other / "new.txt").read_text() == "moved"
        assert (other / "own.txt").exists()
        plain = await d.thread()
        await d.says(plain, "write new.txt here")
        assert (d.workspace / "new.txt").read_text() == "here"

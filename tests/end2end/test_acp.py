"""``assent acp``: editors that work with Assent, by the protocol's own SDK on their side (R-ACP-3)."""

import asyncio
import base64
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.schema import (
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextResourceContents,
)

from tests.end2end.editor import call, editing, editing_apart, make_home, rows
from tests.harness.help_pages import samples
from tests.harness.timeouts import WAIT_S

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.mark.spec("R-ACP-3")
async def test_an_editor_sees_the_answer_come_and_what_each_call_would_do_before_it_agrees(tmp_path: Path) -> None:
    home = make_home(
        tmp_path / "h",
        call("list_directory", {"reasoning": "Let me look."}, {"text": "I look "}, {"text": "first."}, path="."),
        call("write_file", path="a.txt", content="hello\n"),
        call("bash", command="cat a.txt; echo `date` > /dev/null"),
        [{"text": "Done."}],
    )
    zed, jetbrains = (json.loads(one)["agent_servers"]["Assent"] for one in samples("editors", "json"))
    (neovim,) = samples("editors", "lua")
    assert (zed["command"], jetbrains["command"]) == ("assent", "assent")
    assert zed["args"] == jetbrains["args"] == re.findall(r'"([^"]+)"', neovim.partition("args = ")[2])
    async with editing_apart(home, words=zed["args"]) as (editor, _):
        session = await editor.begin(home / "workspace")
        assert await editor.say(session, "Make a file") == "end_turn"
    assert editor.said("agent_thought_chunk") == "Let me look."
    assert editor.said() == "I look first.Done."
    assert (home / "workspace" / "a.txt").read_text() == "hello\n"
    started = editor.updates("tool_call")
    assert [(one["title"], one["kind"], one["status"]) for one in started] == [
        ("list-directory: .", "read", "pending"),
        ("write-file: a.txt", "edit", "pending"),
        ("bash: cat a.txt; echo `date` > /dev/null", "execute", "pending"),
    ]
    assert started[1]["locations"] == [{"path": str(home / "workspace" / "a.txt")}]
    assert started[1]["rawInput"] == {"path": "a.txt", "content": "hello\n"}
    assert editor.states("call-2") == ["pending", "in_progress", "pending", "in_progress", "completed"]
    write, command_asked = (one["call"]["content"] for one in editor.asked)
    assert {"type": "diff", "path": str(home / "workspace" / "a.txt"), "newText": "hello\n"} in write
    for fact in ("Category: write", "Asked by: assistant › write-file", "(inside the boundary)", "Your answer holds"):
        assert fact in write[0]["content"]["text"]
    text = command_asked[0]["content"]["text"]
    assert f"Ran in: {home / 'workspace'}" in text
    assert "network off" in text
    assert "cat a.txt; echo `date` > /dev/null\n\nexit code 0\nhello" in text
    last = [one for one in editor.updates("tool_call_update") if one["toolCallId"] == "call-3"][-1]
    assert last["content"][0]["content"]["text"] == "```\nhello\n\n```"


@pytest.mark.spec("R-ACP-3", "R-PRM-5")
async def test_an_answer_of_the_editor_is_logged_with_the_digest_of_the_very_call(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", call("write_file", path="a.txt", content="x"), [{"text": "Done."}])
    async with editing(home) as editor:
        await editor.say(await editor.begin(home), "Go")
        (asked,) = editor.asked
    (line,) = [json.loads(row[0]) for row in rows(home, "SELECT line FROM audit WHERE line LIKE '%allow_once%'")]
    assert (line["tool"], line["decision"], line["by"]) == ("write-file", "allow_once", "user")
    assert line["extra"]["via"] == "Zed"
    assert line["digest"] == asked["meta"]["assent.digest"]


@pytest.mark.spec("R-ACP-3", "R-PRM-3")
async def test_what_is_offered_is_what_a_press_can_mean_and_an_unknown_answer_is_a_no(tmp_path: Path) -> None:
    rounds = [call("write_file", path=f"{name}.txt", content="x") for name in "abcd"]
    home = make_home(tmp_path / "h", *rounds, call("bash", command="sudo ls"), [{"text": "Done."}])
    given = iter(["allow_always", "", None, "deny", "allow_run"])
    async with editing(home, lambda _call, _options: next(given)) as editor:
        await editor.say(await editor.begin(home), "Go")
    write = [(one.option_id, one.kind) for one in editor.options[0]]
    assert write == [
        ("deny", "reject_once"),
        ("deny_run", "reject_always"),
        ("allow_once", "allow_once"),
        ("allow_run", "allow_always"),
    ]
    assert os.listdir(home / "workspace") == []
    results = [one for one in editor.updates("tool_call_update") if one.get("status") == "failed"]
    assert "not offered" in json.dumps(results[0])
    assert "closed in the editor" in json.dumps(results[2])
    assert len(results) == 5


@pytest.mark.spec("R-ACP-3")
async def test_a_thread_of_an_editor_is_an_ordinary_one_and_can_be_opened_again(tmp_path: Path) -> None:
    home = make_home(
        tmp_path / "h", call("list_directory", {"text": "Look: "}, path="."), [{"text": "Done."}], [{"text": "More."}]
    )
    async with editing(home) as editor:
        session = await editor.begin(home / "workspace")
        assert (await editor.conn.list_sessions()).sessions == []  # nothing was said in it yet
        await editor.say(session, "Look around, please")
    assert rows(home, "SELECT thread_id, title, label, agent FROM threads") == [
        (session, "Look around, please", "editor:Zed", "assistant")
    ]
    async with editing(home) as editor:
        await editor.greet("Neovim \u202e\n")
        (found,) = (await editor.conn.list_sessions(cwd=str(home / "workspace"))).sessions
        assert (found.session_id, found.title, found.cwd) == (session, "Look around, please", str(home / "workspace"))
        assert (await editor.conn.list_sessions(cwd="/elsewhere")).sessions == []
        await editor.conn.load_session(cwd=str(home / "workspace"), session_id=session, mcp_servers=[])
        await editor.until(lambda: "Done." in editor.said())
        assert editor.said("user_message_chunk").startswith("Look around, please[attached: The editor’s folder]")
        assert editor.said() == "Look: Done."
        assert editor.states("call-1") == ["pending", "completed"]
        editor.told.clear()
        assert await editor.say(session, "And again") == "end_turn"
        assert editor.said() == "Look: Done."
        assert editor.states("call-1.2") == ["pending", "in_progress", "completed"]  # models use their names again
    async with editing(home) as editor:
        await editor.greet()
        await editor.conn._conn.send_request("session/resume", {"sessionId": session, "cwd": "/", "mcpServers": []})
        assert editor.said() == ""


@pytest.mark.spec("R-ACP-3")
async def test_a_folder_outside_the_boundary_is_said_and_nothing_is_widened(tmp_path: Path) -> None:
    outside = tmp_path / "project"
    outside.mkdir()
    (outside / "plan.txt").write_text("secret plan")
    home = make_home(
        tmp_path / "h", call("read_file", path=str(outside / "plan.txt")), [{"text": "I could not."}], [{"text": "No."}]
    )
    async with editing(home, lambda _call, _options: "deny") as editor:
        session = await editor.begin(outside)
        await editor.say(session, "Read the plan")
        assert f"> The folder {outside} is outside what agents may use" in editor.said()
        assert editor.states("call-1") == ["pending", "in_progress", "failed"]
        assert "secret plan" not in json.dumps(editor.told)
        editor.told.clear()
        await editor.say(session, "Again")
        assert editor.said() == "No."  # it is said once
        for odd in ("relative", "", "/a\nb", "/" + "x" * 5000):
            with pytest.raises(RequestError, match="absolute path"):
                await editor.conn.new_session(cwd=odd, mcp_servers=[])
    (told,) = rows(home, "SELECT text FROM blocks WHERE kind = 'file'")
    assert f"{outside} open. It is outside the folders that you may use" in told[0]


@pytest.mark.expects_log("cancel_request")  # the SDK's client knows it not yet, and says so
async def test_cancel_ends_the_prompt_as_cancelled_and_denies_what_was_asked(tmp_path: Path) -> None:
    never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    home = make_home(
        tmp_path / "h",
        call("write_file", path="a.txt", content="x"),
        [{"text": "Begun"}, {"hang": True}],
        [{"text": "Yes."}],
    )
    async with editing(home, lambda _call, _options: never) as editor:
        session = await editor.begin(home)
        going = asyncio.create_task(editor.say(session, "Go"))
        await editor.until(lambda: editor.asked)
        await editor.conn.cancel(session_id=session)
        assert await going == "cancelled"
        assert not (home / "workspace" / "a.txt").exists()
        never.set_result("allow_once")  # too late: nobody waits for it
        going = asyncio.create_task(editor.say(session, "Go on"))
        await editor.until(lambda: "Begun" in editor.said())
        with pytest.raises(RequestError, match="at work"):
            await editor.say(session, "And this")
        await editor.conn.cancel(session_id=session)
        assert await going == "cancelled"
        await editor.conn.cancel(session_id=session)  # nothing is there to be stopped
        assert await editor.say(session, "Well?") == "end_turn"
    assert not (home / "workspace" / "a.txt").exists()


async def test_a_cancel_that_overtakes_its_prompt_still_ends_it(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", *[[{"text": "Begun"}, {"hang": True}]] * 5)
    async with editing(home) as editor:
        session = await editor.begin(home)
        for _ in range(5):
            going = asyncio.create_task(editor.say(session, "Go"))
            await asyncio.sleep(0)
            await editor.conn.cancel(session_id=session)
            assert await asyncio.wait_for(going, WAIT_S) == "cancelled"


@pytest.mark.parametrize(
    ("round_", "limits", "stop"),
    [
        ([{"text": "Half"}, {"finish": "length"}], "", "max_tokens"),
        (call("list_directory", path="."), "chat:\n  max_iterations: 2\n", "max_turn_requests"),
    ],
)
async def test_why_an_answer_stopped_is_said_in_the_protocols_words(
    tmp_path: Path, round_: Any, limits: str, stop: str
) -> None:
    home = make_home(tmp_path / "h", round_, repeat=True)
    with (home / "config.yaml").open("a") as file:
        file.write(limits)
    async with editing(home) as editor:
        assert await editor.say(await editor.begin(home), "Go") == stop
        assert "Assent: " in editor.said()


async def test_a_failure_is_an_error_with_its_reason_and_the_thread_goes_on(tmp_path: Path) -> None:
    home = make_home(
        tmp_path / "h", [{"error": {"code": "model.key_refused", "message": "The key is wrong."}}], [{"text": "Now."}]
    )
    async with editing(home) as editor:
        session = await editor.begin(home)
        with pytest.raises(RequestError, match="The key is wrong"):
            await editor.say(session, "Go")
        assert await editor.say(session, "Go on") == "end_turn"


async def test_model_and_agent_are_chosen_from_what_there_is(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Yes."}])
    async with editing(home) as editor:
        session = await editor.begin(home)
        await editor.until(lambda: editor.updates("config_option_update"))
        options = {one["id"]: one for one in editor.updates("config_option_update")[-1]["configOptions"]}
        assert options["model"]["currentValue"] == "scripted/scripted"
        assert {"demo/demo", "scripted/scripted"} <= {one["value"] for one in options["model"]["options"]}
        assert options["agent"]["currentValue"] == "assistant"
        await editor.conn.set_config_option(config_id="agent", session_id=session, value="researcher_agent")
        answer = await editor.conn.set_config_option(config_id="model", session_id=session, value="demo/demo")
        assert [one.current_value for one in answer.config_options] == ["researcher_agent", "demo/demo"]
        for option, value in (("model", "nowhere/x"), ("agent", "nobody"), ("agent", "debate"), ("other", "x")):
            with pytest.raises(RequestError):
                await editor.conn.set_config_option(config_id=option, session_id=session, value=value)
        await editor.conn.set_config_option(config_id="model", session_id=session, value="scripted/scripted")
        await editor.conn.set_session_mode(session_id=session, mode_id="ask")
        with pytest.raises(RequestError, match="no mode"):
            await editor.conn.set_session_mode(session_id=session, mode_id="yolo")
        assert await editor.say(session, "Go") == "end_turn"
    assert rows(home, "SELECT agent, model FROM threads") == [("researcher_agent", "scripted/scripted")]


async def test_skills_are_offered_as_commands_and_a_message_can_name_them(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Ahoy."}])
    (home / "skills").mkdir()
    (home / "skills" / "pirate.skill.md").write_text(
        "---\nname: pirate\ndescription: Talks like a pirate\nargument-hint: topic\n---\nTalk like a pirate.\n"
    )
    async with editing(home) as editor:
        session = await editor.begin(home)
        await editor.until(lambda: editor.updates("available_commands_update"))
        offered = {one["name"]: one for one in editor.updates("available_commands_update")[0]["availableCommands"]}
        assert offered["pirate"]["description"] == "Talks like a pirate"
        assert offered["pirate"]["input"] == {"hint": "topic"}
        assert await editor.say(session, "/pirate ships") == "end_turn"
        (home / "skills" / "sailor.skill.md").write_text("---\nname: sailor\ndescription: Sails\n---\nSail.\n")
        await editor.until(
            lambda: "sailor" in json.dumps(editor.updates("available_commands_update")[-1]["availableCommands"])
        )


async def test_files_images_and_links_of_a_message_arrive_as_what_they_are(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Seen."}])
    async with editing(home) as editor:
        session = await editor.begin(home / "workspace")
        blocks = [
            "See ",
            ResourceContentBlock(type="resource_link", name="x", uri="file:///etc/pass%20wd"),
            ResourceContentBlock(type="resource_link", name="issue \u202e7", uri="https://example.org/7"),
            ResourceContentBlock(type="resource_link", name="odd", uri="file:///a%0Ab"),
            ResourceContentBlock(type="resource_link", name="far", uri="file://host/share"),
            EmbeddedResourceContentBlock(
                type="resource", resource=TextResourceContents(uri="file:///p/notes.md", text="A \ud800 note")
            ),
            ImageContentBlock(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/gif"),
        ]
        assert await editor.say(session, *blocks) == "end_turn"
    found = rows(home, "SELECT kind, text, fields_json FROM blocks WHERE message_seq = 1 ORDER BY position")
    assert found[0][1] == (
        "See @/etc/pass wd issue \\u{202e}7 (https://example.org/7) odd (file:///a%0Ab) far (file://host/share) "
    )
    assert [kind for kind, _, _ in found[1:]] == ["file", "image", "file"]
    assert [json.loads(fields)["name"] for _, _, fields in found[1:]] == [
        "/p/notes.md",
        "pasted image",
        "The editor’s folder",
    ]
    assert found[1][1] == "A \ufffd note"
    assert json.loads(found[2][2])["media_type"] == "image/png"


async def test_what_a_chat_does_not_take_is_refused_in_words_and_nothing_is_kept(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Never."}])
    broken = base64.b64encode(PNG[:20] + b"\0" * 99).decode()

    def blob(data: str) -> Any:
        inside = BlobResourceContents(uri="file:///x.bin", blob=data)
        return EmbeddedResourceContentBlock(type="resource", resource=inside)

    async with editing(home) as editor:
        session = await editor.begin(home)
        for blocks, words in (
            ([ImageContentBlock(type="image", data=broken, mime_type="image/png")], "begins like a PNG, and is broken"),
            ([blob(base64.b64encode(b"x" * 5_100_000).decode())], "too large to attach"),
            ([blob(base64.b64encode(b"\0\1\2").decode())], "is not text"),
            ([blob("%%%")], "cannot be decoded"),
            (["x" * 1_000_001], "1,000,000 are the most"),
            (["x"] * 501, "500 are the most"),
            ([blob(base64.b64encode(b"x").decode())] * 21, "20 are the most"),
            ([" \n"], "is empty"),
            ([], "is empty"),
        ):
            with pytest.raises(RequestError, match=words):
                await editor.say(session, *blocks)
    assert rows(home, "SELECT count(*) FROM threads") == [(0,)]


@pytest.mark.spec("R-ACP-3", "R-PRM-5")
async def test_a_file_that_changes_while_it_is_asked_about_is_asked_about_again(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", call("write_file", path="a.txt", content="new\n"), [{"text": "Done."}])
    place = home / "workspace" / "a.txt"
    place.write_text("old\n")
    given = iter(["allow_once", "deny"])

    def meanwhile(_call: Any, _options: list[Any]) -> str:
        place.write_text(f"somebody else was here {len(place.read_text())}\n")
        return next(given)

    async with editing(home, meanwhile) as editor:
        await editor.say(await editor.begin(home), "Write it")
        first, second = editor.asked
    assert first["call"]["content"][1]["oldText"] == "old\n"
    assert "That answer is void: look at it again." in second["call"]["content"][0]["content"]["text"]
    assert second["call"]["content"][1]["oldText"].startswith("somebody else")
    assert first["meta"]["assent.digest"] != second["meta"]["assent.digest"]
    assert place.read_text().startswith("somebody else")


@pytest.mark.spec("R-ACP-3")
async def test_a_called_agents_question_comes_to_the_editor_of_the_thread_it_works_for(tmp_path: Path) -> None:
    home = make_home(
        tmp_path / "h",
        call("skill_invoke", ref="log-keeper", args={}),
        call("write_file", path="a.txt", content="x"),
        [{"text": "Kept."}],
        [{"text": "Done."}],
    )
    (home / "skills").mkdir()
    (home / "skills" / "log-keeper.skill.md").write_text(
        "---\nname: log-keeper\ndescription: Keeps the log.\nmetadata:\n  model:\n    maxTurns: 5\n---\nKeep the log.\n"
    )
    async with editing(home) as editor:
        session = await editor.begin(home)
        await editor.say(session, "Go")
        (asked,) = editor.asked
    assert asked["session"] == session
    assert "Asked by: assistant › log-keeper › write-file" in asked["call"]["content"][0]["content"]["text"]
    number = asked["call"]["toolCallId"]
    assert editor.states(number) == ["in_progress", "pending", "in_progress", "completed"]
    assert (home / "workspace" / "a.txt").exists()
    assert editor.said().endswith("Done.")


async def test_two_editors_share_a_home_and_one_goes_on_when_the_other_that_had_it_leaves(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Hello."}], [{"text": "Begun"}, {"hang": True}])
    async with editing(home) as second:
        async with editing(home) as first:
            place = home / "workspace"
            one = await first.begin(place)  # it has the home now
            two = await second.begin(place)
            silent = str((await second.conn.new_session(cwd=str(place), mcp_servers=[])).session_id)
            assert await first.say(one, "Hello") == "end_turn"
            with pytest.raises(RequestError, match="open"):
                await second.say(one, "That is not mine")
            going = asyncio.create_task(second.say(two, "Go"))
            await second.until(lambda: "Begun" in second.said())
        with pytest.raises(RequestError, match="has ended"):
            await going
        second.told.clear()
        assert await second.say(two, "Go on") == "end_turn"  # a runtime of its own, whose script begins anew
        assert second.said() == "Hello."
        second.told.clear()
        going = asyncio.create_task(second.say(silent, "And here"))
        await second.until(lambda: "Begun" in second.said())
        await second.conn.cancel(session_id=silent)
        assert await going == "cancelled"
    assert [row[0] for row in rows(home, "SELECT end_reason FROM runs ORDER BY started_at")] == [
        "response",
        "interrupted",
        "response",
        "cancelled",
    ]


@pytest.mark.spec("R-ACP-3")
async def test_what_an_editor_began_ends_with_it_where_no_window_is_open(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Hello."}], [{"text": "Begun"}, {"hang": True}])
    async with editing(home) as first:
        assert await first.say(await first.begin(home), "Hello") == "end_turn"  # it has the home
        async with editing(home) as second:
            going = asyncio.create_task(second.say(await second.begin(home), "Go"))
            await second.until(lambda: "Begun" in second.said())
        with pytest.raises(ConnectionError):
            await going
        session = next(one.session_id for one in (await first.conn.list_sessions()).sessions if one.title == "Go")
        await first.conn.load_session(cwd=str(home), session_id=session, mcp_servers=[])
        with pytest.raises(RequestError, match="The script is over"):  # and not that it is at work
            await first.say(session, "And now?")
    ends = rows(home, "SELECT end_reason FROM runs ORDER BY started_at")
    assert ends == [("response",), ("interrupted",), ("error",)]


async def test_without_a_model_it_says_where_one_is_chosen(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h")
    (home / "config.yaml").write_text("")
    async with editing(home) as editor:
        await editor.greet()
        with pytest.raises(RequestError, match=r"No model is chosen. Choose one in Assent, Settings, Models and keys"):
            await editor.conn.new_session(cwd=str(home), mcp_servers=[])


async def test_a_persistent_agent_has_answered_when_it_waits_again(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "One."}], [{"text": "Two."}])
    for folder in ("skills", "agents"):
        (home / folder).mkdir()
    (home / "skills" / "keeper.skill.md").write_text(
        "---\nname: keeper\ndescription: x\nmetadata:\n  model: {persistent: true}\n---\nKeep.\n"
    )
    (home / "agents" / "keeper.yaml").write_text("name: keeper_agent\ndescription: Keeps.\nsideA: {prompt: keeper}\n")
    async with editing(home) as editor:
        session = await editor.begin(home / "workspace")
        await editor.conn.set_config_option(config_id="agent", session_id=session, value="keeper_agent")
        assert await editor.say(session, "Begin") == "end_turn"
        assert editor.said() == "One."
        assert await editor.say(session, "Go on") == "end_turn"
        assert editor.said() == "One.Two."
        await editor.conn.cancel(session_id=session)
    assert rows(home, "SELECT end_reason FROM runs") == [("cancelled",)]


async def test_a_thread_that_is_opened_twice_at_once_asks_once(tmp_path: Path) -> None:
    home = make_home(
        tmp_path / "h", [{"text": "Hello."}], call("write_file", path="a.txt", content="x"), [{"text": "Done."}]
    )
    async with editing(home) as editor:
        session = await editor.begin(home / "workspace")
        await editor.say(session, "Hello")
        again = (editor.conn.load_session(cwd=str(home), session_id=session, mcp_servers=[]) for _ in range(3))
        await asyncio.gather(*again)
        assert await editor.say(session, "Write") == "end_turn"
        assert len(editor.asked) == 1
        await editor.conn.close_session(session_id=session)
        with pytest.raises(RequestError, match="not open here"):
            await editor.say(session, "And now?")

"""What models, files, settings and clipboards can do to the app, seen through its window: said, kept, never frozen."""

import asyncio
import base64

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.domain.messages import FileBlock, ImageBlock
from desktop.presenter.transcript.items import AttachmentPart
from tests.gui.app.kit import HELLO, Heartbeat, Running, call

BLOCK = 1.5
"""Seconds of work in one go on the Qt thread: the order of magnitude that a person would call frozen."""


def paste(app: Running, text: str) -> None:
    """As Ctrl+V does."""
    QApplication.clipboard().setText(text)
    app.composer.text.paste()


def toggle(app: Running, kind: str = "toggle") -> None:
    """Press a tool card's head, or what it offers."""
    view = app.page.pane.transcript
    for index, message in enumerate(view.page.messages):
        spot = next((spot for spot, _ in message.spots() if spot.kind == kind), None)
        if spot is not None:
            view.activate(index, spot)
            return
    raise AssertionError(f"there is no {kind!r} to press")


# -- sizes ------------------------------------------------------------------------------------------------------------


async def test_five_megabytes_pasted_travel_as_a_file_and_never_freeze_the_window(start):
    app = await start(HELLO)
    pasted = "".join(f"line {number}: ünïcode and plenty of it\n" for number in range(130_000))
    assert len(pasted.encode()) > 5_000_000
    with Heartbeat() as heart:
        paste(app, pasted)
        await app.until(lambda: app.composer._attachments, "the attachment")
        app.composer.text.insertPlainText("What is this?")
        app.composer.submit()
        await app.answered("Hello there.")
    assert heart.longest_work < BLOCK, heart.says("5 MB pasted and sent")
    heart.says("5 MB pasted and sent")
    assert any(isinstance(p, AttachmentPart) and "pasted text" in p.name for i in app.items.values() for p in i.parts)
    await app.end()
    again = await start()
    await again.until(lambda: "Hello there." in again.text, "the thread after a restart")
    path = await again.startup._services.chats.path(again.models.chat.thread_id)
    (kept,) = [block for block in path[0].blocks if isinstance(block, FileBlock)]
    assert kept.text == pasted


@pytest.mark.parametrize("word", ["words and ", "x"])
async def test_a_paste_just_short_of_that_never_freezes_the_window(start, word):
    """One long line is laid out quickly only where it can be broken; one long word goes as a file."""
    app = await start(HELLO)
    pasted = (word * 99_000)[:99_000]
    with Heartbeat() as heart:
        paste(app, pasted)
        await asyncio.sleep(0.1)
        app.composer.text.insertPlainText("And one more key.")
        await asyncio.sleep(0.1)
        app.composer.submit()
        await app.answered("Hello there.")
    assert heart.longest_work < BLOCK, heart.says(f"99 KB in one line of {word!r}")
    heart.says(f"99 KB in one line of {word!r}")
    files = [p.name for item in app.items.values() for p in item.parts if isinstance(p, AttachmentPart)]
    assert files == ([] if " " in word else ["pasted text.txt"])
    assert (pasted in app.text) == (" " in word)


@pytest.mark.parametrize("limit", [200_000, 5_000_000])
async def test_a_result_of_two_megabytes_in_one_line_never_freezes_the_window(start, tmp_path, limit):
    home = tmp_path / "home"
    (home / "workspace").mkdir(parents=True, mode=0o700)
    (home / "workspace" / "long.txt").write_text("head" + "x" * 2_000_000 + "tail")
    (home / "config.yaml").write_text(f"models:\n  default: scripted/scripted\ntools:\n  output_limit_bytes: {limit}\n")
    app = await start(call("read_file", path="long.txt"), [{"text": "Read."}])
    with Heartbeat() as heart:
        app.say("read it")
        await app.answered("Read.")
        toggle(app)
        await asyncio.sleep(0.1)
        for _ in range(3):
            toggle(app, "more")
            await asyncio.sleep(0.05)
        toggle(app)
        await asyncio.sleep(0.05)
    assert heart.longest_work < BLOCK, heart.says(f"2 MB in one line, limit {limit}")
    heart.says(f"2 MB in one line, limit {limit}")
    (shown,) = app.calls
    assert shown.state == "done"
    assert shown.result.startswith("headxxx")
    assert ("xtail" in shown.result) == (limit > 2_000_000)
    assert ("2000008 bytes in the file" in shown.result) == (limit < 2_000_000), "what is left out is said"
    await app.end()
    again = await start()
    with Heartbeat() as heart:
        await again.until(lambda: again.calls, "the call after a restart")
        await asyncio.sleep(0.1)
    assert heart.longest_work < BLOCK, heart.says("opened again")
    assert again.calls[0].result == shown.result


# -- bytes that are no text -------------------------------------------------------------------------------------------


@pytest.mark.spec("R-BLT-5", "R-TMO-8")
async def test_bytes_that_are_no_text_come_as_an_error_or_with_replacements_and_the_thread_goes_on(start):
    app = await start(
        call("read_file", path="odd.txt"),
        call("bash", command=r"printf 'caf\xc3\xa9 \xff\xfe\xc3 end'"),
        [{"text": "Both seen."}],
    )
    (app.home.path / "workspace" / "odd.txt").write_bytes(b"caf\xe9 \xff\xfe\n" * 3)
    app.say("look")
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Both seen.")
    read, ran = app.calls
    assert read.state == "failed"
    assert "not UTF-8 text" in read.result
    assert ran.state == "done"
    assert "café \ufffd" in ran.result
    assert "end" in ran.result
    await app.end()
    again = await start(HELLO)
    await again.until(lambda: len(again.calls) == 2, "both calls after a restart")
    assert again.calls[1].result == ran.result


async def test_a_pasted_text_with_odd_characters_is_stored_as_far_as_it_is_text(start):
    """Half a surrogate pair cannot be stored; a NUL, a bell and an override of the writing direction can."""
    app = await start(HELLO)
    data = QMimeData()
    data.setText("a\x00b \x07 \u202egnp.exe 👩‍👩‍👧 \ud83d end")
    app.composer.text.insertFromMimeData(data)
    app.composer.submit()
    await app.answered("Hello there.")
    assert "end" in app.text
    await app.end()
    again = await start()
    await again.until(lambda: "👩‍👩‍👧" in again.text, "the message after a restart")
    assert "end" in again.text


# -- config.yaml ------------------------------------------------------------------------------------------------------


async def test_a_config_with_bytes_that_are_no_text_is_named_with_its_line_and_kept(start, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    written = b"models:\n  default: scripted/scripted\nappearance:\n  theme: \xff\xfe\n"
    (home / "config.yaml").write_bytes(written)
    app = await start(HELLO)
    await app.until(lambda: "line 4" in app.banner, "the line of the mistake")
    assert (home / "config.yaml").read_bytes() == written, "the file is the person's"


@pytest.mark.parametrize(
    "written", ["appearance:\n  theme: purple\n", "a: [1, 2\nb: 3\n", "- 1\n", "? [a]\n: 1\n", "tools:\n\tx: 1\n"]
)
async def test_a_mistake_is_said_in_one_sentence_with_its_place_named_once(start, tmp_path, written):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text(f"models:\n  default: scripted/scripted\n{written}")
    app = await start(whole=False)
    await app.until_true(lambda: app.banner, "the banner")
    assert app.banner.count("config.yaml") == app.banner.count("line ") == app.banner.count("column ") == 1, app.banner
    assert ".." not in app.banner
    assert app.banner.endswith(". The last good values stay in force.")


async def test_a_config_that_breaks_while_the_app_runs_is_named_the_last_good_kept_and_mended_is_taken(start):
    app = await start(HELLO)
    config = app.home.path / "config.yaml"
    settings = app.models.settings
    settings.set("appearance.text_scale", 1.25)
    await app.until(lambda: settings.get("appearance.text_scale") == 1.25, "the setting, saved")
    good = config.read_text()
    broken = good + "limits:\n  concurrent_runs: [\n"
    config.write_text(broken)
    settings.look_at_file()
    await app.until(lambda: "line" in app.banner, "the mistake")
    assert "last good values" in app.banner
    assert settings.get("appearance.text_scale") == 1.25
    app.say("still there?")
    await app.answered("Hello there.")
    refusals: list[str] = []
    settings.refused.connect(lambda _key, why: refusals.append(why))
    settings.set("appearance.text_scale", 1.5)
    await app.until(lambda: refusals, "the refusal to save over a mistake")
    assert config.read_text() == broken, "never overwritten"
    config.write_text(good.replace("1.25", "1.5"))
    settings.look_at_file()
    await app.until(lambda: settings.get("appearance.text_scale") == 1.5, "the mended file")
    assert app.banner == ""


async def test_a_refused_setting_is_said_in_the_window_wherever_it_was_changed(start):
    """The command palette changes the theme from any page."""
    app = await start()
    config = app.home.path / "config.yaml"
    config.write_text(config.read_text() + "nonsense: [\n")
    app.startup._shell.run_command("theme:dark")
    await app.until(app.window.toast.isVisible, "a word about it")
    assert app.models.settings.get("appearance.theme") == "system"


# -- models -----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-LOOP-13", "R-LOOP-3", "R-TOOL-3")
async def test_arguments_in_every_broken_shape_come_back_as_errors_and_nothing_runs(start):
    shapes = [
        "{",
        "[1]",
        "null",
        '"text"',
        '{"path": "a.txt", "content": NaN}',
        "[" * 5_000,
        '{"path": "\\ud800"}',
        '{"path": "a.txt"}{"path": "b.txt"}',
        '{"path": "a.txt", "content": "x", "mode": "777"}',
    ]
    garbled = [[{"call": {"tool": "write_file", "arguments": shape}}] for shape in shapes]
    app = await start(*garbled, [{"text": "Enough."}])
    app.say("go")
    await app.answered("Enough.")
    assert [c.state for c in app.calls] == ["failed"] * len(shapes)
    assert all(c.result for c in app.calls), "the model is told what was wrong"
    assert list((app.home.path / "workspace").iterdir()) == []


async def test_an_answer_without_a_word_is_said_and_can_be_tried_again(start):
    app = await start([], [{"text": "   "}], HELLO)
    for _ in range(2):
        app.say("hello?")
        await app.until(lambda: "answered with nothing" in app.notices and not app.running, "the notice")
        app.models.chat.new_thread()
        await app.until(lambda: not app.items, "a new chat")
    app.say("hello?")
    await app.answered("Hello there.")


@pytest.mark.spec("R-LOOP-12", "R-LIM-8")
async def test_ten_thousand_calls_in_one_answer_are_cut_to_the_first_and_never_freeze_the_window(start):
    many = [{"times": 10_000, "steps": [{"call": {"tool": "list_directory", "arguments": {"path": "."}}}]}]
    app = await start(many, [{"text": "That was a lot."}], HELLO)
    with Heartbeat() as heart:
        app.say("everything, please")
        await app.answered("That was a lot.")
        await asyncio.sleep(0.1)
    assert heart.longest_work < BLOCK, heart.says("10,000 calls in one answer")
    heart.says("10,000 calls in one answer")
    states = [c.state for c in app.calls]
    assert states.count("done") == 64
    assert set(states) == {"done", "denied"}
    assert "9,800 more calls" in app.notices
    app.say("and now?")
    await app.answered("Hello there.")
    await app.end()
    with Heartbeat() as heart:
        again = await start()
        await again.until(lambda: "That was a lot." in again.text, "the thread after a restart")
    heart.says("10,000 calls, opened again")
    assert heart.longest_work < BLOCK, heart.says("10,000 calls, opened again")


@pytest.mark.spec("R-LOOP-10", "R-CAN-1")
async def test_a_stream_that_never_ends_ends_when_the_person_presses_stop(start):
    app = await start([{"times": -1, "steps": [{"text": "and on "}, {"wait": 0.001}]}], HELLO)
    app.say("tell me everything")
    await app.until(lambda: app.text.count("and on") > 20, "a part of it")
    with Heartbeat() as heart:
        app.composer.stop.click()
        await app.until(lambda: not app.running, "the end")
        await asyncio.sleep(0.1)
    heart.says("stop")
    said = app.text.count("and on")
    await asyncio.sleep(0.2)
    assert app.text.count("and on") == said
    app.say("thank you")
    await app.answered("Hello there.")
    await app.end()
    again = await start()
    await again.until(lambda: again.text.count("and on") == said, "exactly what was on screen")


@pytest.mark.parametrize("kind", ["text", "reasoning"])
@pytest.mark.spec("R-LIM-5")
async def test_a_stream_that_never_ends_is_stopped_at_a_limit_that_is_named(start, kind):
    endless = [{"times": -1, "steps": [{kind: "all work and no play makes a dull model\n" * 100}]}]
    app = await start(endless, HELLO)
    with Heartbeat() as heart:
        app.say("tell me everything")
        await app.until(lambda: "1,000,000 characters" in app.notices and not app.running, "the limit")
    heart.says(f"endless {kind} at full speed")
    assert heart.longest_work < BLOCK
    app.say("and now?")
    await app.answered("Hello there.")


@pytest.mark.spec("R-LOOP-8", "R-LIM-5")
async def test_a_model_that_calls_a_tool_in_every_round_is_stopped_after_its_rounds(start):
    app = await start(call("list_directory", path="."), repeat=True)
    app.say("go")
    await app.until(lambda: "rounds" in app.notices and not app.running, "the limit")
    assert "Stopped: maximum iteration limit reached." in app.text
    assert len(app.calls) == 20


async def test_a_model_whose_arguments_never_end_is_stopped_by_the_person(start):
    endless = [{"call": {"tool": "read_file", "arguments": "{"}}, {"wait": 0.001}]
    app = await start([{"times": -1, "steps": endless}], HELLO)
    app.say("go")
    await app.until(lambda: app.calls, "the call being written")
    app.composer.stop.click()
    await app.until(lambda: not app.running, "the end")
    assert not [c for c in app.calls if c.state in ("running", "waiting", "writing")]
    app.say("and now?")
    await app.answered("Hello there.")


def picture(width: int, height: int) -> QMimeData:
    """As another program puts a picture on the clipboard, with the address that a browser adds."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(0x3377AA)
    held = QMimeData()
    held.setImageData(image)
    held.setUrls([QUrl("https://example.org/picture.png")])
    return held


async def test_a_pasted_picture_is_attached_and_sent_as_an_image(start):
    app = await start(HELLO)
    QApplication.clipboard().setMimeData(picture(4000, 500))
    app.composer.text.setFocus()
    QTest.keyClick(app.composer.text, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    await app.until(lambda: app.composer.attachments, "the attachment")
    (block,) = app.composer.attachments
    assert isinstance(block, ImageBlock)
    assert block.media_type == "image/png"
    shown = QImage.fromData(base64.b64decode(block.data))
    assert (shown.width(), shown.height(), shown.pixelColor(9, 9).rgb()) == (2000, 250, 0xFF3377AA)
    app.composer.text.insertPlainText("What is this?")
    app.composer.submit()
    await app.answered("Hello there.")
    assert any(isinstance(p, AttachmentPart) and p.name == "pasted image" for i in app.items.values() for p in i.parts)

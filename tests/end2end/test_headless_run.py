"""``assent run``: the whole runtime as a command, in a process without a window."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODEL = ("--model", "scripted/scripted")


def call(tool: str, **arguments: Any) -> list[Any]:
    return [{"call": {"tool": tool, "arguments": arguments}}]


class Home:
    """A home with a scripted model."""

    def __init__(self, path: Path, *rounds: Any) -> None:
        self.path = path
        self.workspace = path / "workspace"
        self.workspace.mkdir(parents=True)
        (path / "script.json").write_text(json.dumps({"rounds": list(rounds)}))

    def command(self, *words: str) -> list[str]:
        hidden = "from tests.harness import hide_qt; import sys; from desktop.app.main import main; sys.exit(main())"
        script = ("--script", str(self.path / "script.json"), "--home", str(self.path))
        return [sys.executable, "-c", hidden, "run", *words, *script]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*words), cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.spec("R-UI-10", "R-PRM-6")
def test_it_answers_on_stdout_and_denies_what_no_rule_allows(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", call("write_file", path="a.txt", content="x"), [{"text": "I could not."}])
    done = home.run("assistant", "write it", *MODEL)
    assert (done.returncode, done.stdout) == (0, "I could not.\n"), done.stderr
    assert "[write_file: denied]" in done.stderr
    assert not (home.workspace / "a.txt").exists()


@pytest.mark.spec("R-PRM-11")
def test_a_rule_given_for_this_run_allows_what_fits_it_and_nothing_else(tmp_path: Path) -> None:
    rounds = (
        call("write_file", path="out/a.txt", content="x"), call("write_file", path="b.txt", content="x"),
        call("bash", command="touch out/c.txt"), [{"text": "Done."}],
    )  # fmt: skip
    home = Home(tmp_path / "h", *rounds)
    done = home.run("assistant", "go", "--allow", "write-file(path=out/**)", "--json", *MODEL)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [e["state"] for e in events if e["type"] == "tool-call-finished"] == ["done", "denied", "denied"]
    assert (home.workspace / "out/a.txt").read_text() == "x"
    assert sorted(os.listdir(home.workspace)) == ["out"]
    types = [event["type"] for event in events if event["type"] != "thread-changed"]
    assert (types[0], types[-1], events[-1]["reason"]) == ("run-started", "run-ended", "response")
    home = Home(tmp_path / "again", *rounds)
    assert "[write_file: denied]" in home.run("assistant", "go", *MODEL).stderr  # it was for that run only


def test_a_failure_is_an_exit_code_with_its_reason(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", [{"error": {"code": "model.key_refused", "message": "The key is wrong."}}])
    done = home.run("assistant", "hello", *MODEL)
    assert (done.returncode, done.stdout) == (1, "")
    assert "The key is wrong." in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody", "hello", *MODEL), "no agent and no skill named 'nobody'"),
        (("assistant", "hello"), "No model is chosen"),
        (("assistant", "hello", "--allow", "bash(", *MODEL), "--allow 'bash(' is no rule"),
        (("skill-list", "no json", *MODEL), "arguments are a JSON object"),
    ],
)
def test_what_cannot_begin_says_so_and_starts_nothing(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = Home(tmp_path / "h", [{"text": "never"}]).run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_skill_with_a_prompt_answers_and_a_skill_in_code_is_called(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", [{"text": "Ahoy."}])
    (home.path / "skills").mkdir()
    text = "---\nname: pirate\ndescription: Talks like one.\nmetadata:\n  category: read\n---\nTalk like a pirate.\n"
    (home.path / "skills" / "pirate.skill.md").write_text(text)
    done = home.run("pirate", "hello", *MODEL)
    assert (done.returncode, done.stdout) == (0, "Ahoy.\n"), done.stderr
    listed = home.run("skill-list", '{"query": "pirate"}', "--json")
    assert listed.returncode == 0, listed.stderr
    result = json.loads(listed.stdout.splitlines()[-1])
    assert [row["name"] for row in result["value"]] == ["pirate"]


@pytest.mark.spec("R-CAN-1")
def test_an_interrupt_stops_the_run_and_leaves_nothing_behind(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", [{"text": "begin"}, {"hang": True}])
    process = subprocess.Popen(
        home.command("assistant", "go", *MODEL), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    heard, until = "", time.monotonic() + 60
    while "begin" not in heard and time.monotonic() < until:
        heard += process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    again = home.run("skill-list", "{}")
    assert again.returncode == 0, again.stderr  # the home is free and whole


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_run_that_nobody_reads_any_more_ends_and_says_why(tmp_path: Path, form: tuple[str, ...]) -> None:
    endless = {"times": -1, "steps": [{"text": "more "}, {"wait": 0.01}]}
    home = Home(tmp_path / "h", [endless])
    with subprocess.Popen(
        home.command("assistant", "go", *form, *MODEL), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(5)
        process.stdout.close()
        error = process.stderr.read()
    assert (process.returncode, error) == (1, "assent: stopped, because nobody reads what it says\n")


@pytest.mark.spec("R-CAN-1")
def test_an_interrupt_stops_a_skill_in_code_too(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", [{"text": "never"}])
    (home.path / "skills").mkdir()
    code = 'frontmatter = {"name": "sleeper", "description": "Sleeps.", "metadata": {"category": "read"}}\n'
    (home.path / "skills" / "sleeper.skill.py").write_text(
        f"{code}import time\nasync def run(ctx, args):\n    time.sleep(600)\n"
    )
    process = subprocess.Popen(
        home.command("sleeper", "{}", "--allow", "sleeper", *MODEL), cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until, logs = time.monotonic() + 60, home.path / "data" / "assent.db"
    while not logs.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert error == "assent: stopped\n"

"""``assent run``: the whole runtime as a command, in a process without a window."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from desktop.app.commands.headless import main
from tests.harness.timeouts import WAIT_S
from tests.servers.fixtures import ProviderSpace, provider, provider_process
from tests.unit.store.auditing import unguarded

ROOT = Path(__file__).resolve().parents[2]
__all__ = ["provider", "provider_process"]
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
        return [sys.executable, "-c", hidden, "run", *words, *self.options]

    @property
    def options(self) -> tuple[str, ...]:
        return ("--script", str(self.path / "script.json"), "--home", str(self.path))

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """In a process of its own, started as a person does. That takes most of a second."""
        return subprocess.run(self.command(*words), cwd=ROOT, capture_output=True, text=True, timeout=120)

    def run_here(self, capsys: pytest.CaptureFixture[str], *words: str) -> subprocess.CompletedProcess[str]:
        """The command in this process: for what it says and does, whatever process it is in."""
        code = main([*words, *self.options])
        said = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, said.out, said.err)


@pytest.mark.spec("R-UI-10", "R-PRM-6")
def test_it_answers_on_stdout_and_denies_what_no_rule_allows(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", call("write_file", path="a.txt", content="x"), [{"text": "I could not."}])
    done = home.run("assistant", "write it", *MODEL)
    assert (done.returncode, done.stdout) == (0, "I could not.\n"), done.stderr
    assert "[write_file: denied]" in done.stderr
    assert not (home.workspace / "a.txt").exists()


@pytest.mark.spec("R-PRM-13")
def test_a_log_that_was_changed_in_the_middle_is_said_and_a_whole_one_is_not(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", call("list_directory", path="."), [{"text": "One."}])
    assert "activity log" not in home.run("assistant", "look", *MODEL).stderr
    with unguarded(home.path / "data" / "assent.db") as connection:
        connection.execute("UPDATE audit SET line = replace(line, 'list', 'lose') WHERE seq = 2")
    again = home.run("assistant", "look", *MODEL)
    assert (again.returncode, again.stdout) == (0, "One.\n")
    assert "assent: The activity log is not as Assent wrote it" in again.stderr


@pytest.mark.spec("R-PRM-11")
def test_a_rule_given_for_this_run_allows_what_fits_it_and_nothing_else(tmp_path: Path) -> None:
    rounds = (
        call("write_file", path="out/a.txt", content="x"),
        call("write_file", path="b.txt", content="x"),
        call("bash", command="touch out/c.txt"),
        [{"text": "Done."}],
    )
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


def test_a_failure_is_an_exit_code_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path / "h", [{"error": {"code": "model.key_refused", "message": "The key is wrong."}}])
    done = home.run_here(capsys, "assistant", "hello", *MODEL)
    assert (done.returncode, done.stdout) == (1, "")
    assert "The key is wrong." in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody", "hello", *MODEL), "no agent and no skill named 'nobody'"),
        (("assistant", "hello"), "No model is chosen"),
        (("assistant", "hello", "--allow", "bash(", *MODEL), "--allow 'bash(' is no rule"),
        (("skill-list", "no json", *MODEL), "arguments are a JSON object"),
        (("assistant", "hello", "--set", "temperature=hot", *MODEL), "temperature has to be a number from 0 to 2"),
        (("assistant", "hello", "--set", "api_base=x", *MODEL), "--set 'api_base=x' is no setting"),
        (("assistant", "hello", "--effort", "huge", *MODEL), "effort has to be none, minimal, low"),
    ],
)
def test_a_run_that_cannot_begin_says_why_and_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    done = Home(tmp_path / "h", [{"text": "never"}]).run_here(capsys, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.spec("R-MOD-1", "R-MOD-2")
@pytest.mark.parametrize("usual", ["gone/none", "''"], ids=["a default that is gone", "no default"])
def test_settings_of_the_command_line_reach_a_provider_over_those_of_a_skill(
    tmp_path: Path, provider: ProviderSpace, usual: str
) -> None:
    home = Home(tmp_path / "h")
    below = "{model: lab/m, seed: 3, temperature: 0.1}"
    text = f"---\nname: works\ndescription: W.\nmetadata:\n  model: {below}\n---\nWork.\n"
    (home.path / "skills").mkdir()
    (home.path / "skills" / "works.skill.md").write_text(text)
    agent = "name: w_agent\nsideA:\n  prompt: works\n  model:\n    maxTokens: 50\n"
    (home.path / "agents").mkdir()
    (home.path / "agents" / "w.yaml").write_text(agent)
    lab = f"{{id: lab, provider: openai_compatible, title: Lab, base_url: '{provider.openai_url}'}}"
    (home.path / "config.yaml").write_text(f"models:\n  default: {usual}\n  connections: [{lab}]\n")
    for name in ("w_agent", "works"):
        done = home.run(name, "Go", "--set", "temperature=0.5", "--effort", "high")
        assert (done.returncode, done.stdout) == (0, "Hello there.\n"), done.stderr
    said = [one["body"] for one in provider.requests() if "body" in one]
    names = ("temperature", "seed", "reasoning_effort", "max_tokens")
    settings = [{name: body.get(name) for name in names} for body in said]
    both = {"temperature": 0.5, "seed": 3, "reasoning_effort": "high"}
    assert settings == [{**both, "max_tokens": 50}, {**both, "max_tokens": None}]


@pytest.mark.spec("R-MOD-7")
def test_a_model_of_the_persons_list_answers_where_the_chosen_server_is_away(
    tmp_path: Path, provider: ProviderSpace
) -> None:
    home = Home(tmp_path / "h")
    (home.path / "config.yaml").write_text(
        "models:\n  default: away/m\n  fallbacks: [away/other, lab/m]\n  connections:\n"
        f"  - {{id: lab, provider: openai_compatible, title: Lab, base_url: '{provider.openai_url}'}}\n"
        "  - {id: away, provider: openai_compatible, title: Away, base_url: 'http://127.0.0.1:9/v1'}\n"
    )
    done = home.run("assistant", "Go")
    assert (done.returncode, done.stdout) == (0, "Hello there.\n"), done.stderr
    with unguarded(home.path / "data" / "assent.db") as connection:
        said = str(connection.execute("SELECT text FROM blocks").fetchall())
    assert "away/m cannot be reached, so lab/m answers." in said


def test_a_skill_with_a_prompt_answers_and_a_skill_in_code_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path / "h", [{"text": "Ahoy."}])
    (home.path / "skills").mkdir()
    text = "---\nname: pirate\ndescription: Talks like one.\nmetadata:\n  category: read\n---\nTalk like a pirate.\n"
    (home.path / "skills" / "pirate.skill.md").write_text(text)
    done = home.run_here(capsys, "pirate", "hello", *MODEL)
    assert (done.returncode, done.stdout) == (0, "Ahoy.\n"), done.stderr
    listed = home.run_here(capsys, "skill-list", '{"query": "pirate"}', "--json")
    assert listed.returncode == 0, listed.stderr
    result = json.loads(listed.stdout.splitlines()[-1])
    assert [row["name"] for row in result["value"]] == ["pirate"]


def test_a_path_runs_that_very_file_and_not_another_skill_of_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path / "h", [{"text": "Answered."}])
    (home.path / "skills").mkdir()
    head = 'frontmatter = {"name": "skill-list", "description": "x", "metadata": {"category": "read"}}\n\n\n'
    own, library = home.path / "skills" / "mine.skill.py", ROOT / "skills" / "tools" / "skill-list.skill.py"
    own.write_text(head + 'def run(ctx, args):\n    return "mine"\n')
    (home.path / "skills" / "words.skill.md").write_text(SKILL.format(more=""))
    assert [home.run_here(capsys, name, "{}").stdout for name in ("skill-list", str(own))] == ["mine\n"] * 2
    for path in (library, f"{ROOT}/skills/agent/../tools/{library.name}", os.path.relpath(library)):
        done = home.run_here(capsys, str(path), '{"query": "skill-describe"}')
        assert (done.returncode, json.loads(done.stdout)[0]["name"]) == (0, "skill-describe"), done.stderr
    done = home.run_here(capsys, str(home.path / "skills" / "words.skill.md"), "hello", *MODEL)
    assert done.stdout == "Answered.\n", done.stderr
    assert "[task: done]" in done.stderr


def test_a_path_that_cannot_be_run_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path / "h", [{"text": "never"}])
    elsewhere = tmp_path / "downloads" / "twin.skill.md"
    elsewhere.parent.mkdir()
    elsewhere.write_text("---\nname: assistant\ndescription: x\n---\nDo it.\n")
    done = home.run_here(capsys, str(elsewhere), "hello", *MODEL)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{elsewhere} lies in no folder of skills that Assent knows" in done.stderr
    assert f"Put it into {home.path}/skills" in done.stderr
    assert "project folder that is not trusted" not in done.stderr
    assert (
        f"{tmp_path}/nothing.skill.md is not there."
        in home.run_here(capsys, f"{tmp_path}/nothing.skill.md", "x").stderr
    )
    (tmp_path / "empty").mkdir()
    assert f"{tmp_path}/empty holds no skill." in home.run_here(capsys, f"{tmp_path}/empty", "x").stderr


@pytest.mark.spec("R-COD-13", "R-COD-18")
def test_what_an_agents_code_finishes_with_is_its_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path / "h", call("invoke", code="await ctx.manager.finish({n: 7}); return 8"), [{"text": "never"}])
    (home.path / "skills").mkdir()
    text = "---\nname: assistant\ndescription: x\nmetadata:\n  model: {toolMode: code}\n---\nWrite code.\n"
    (home.path / "skills" / "assistant.skill.md").write_text(text)
    done = home.run_here(capsys, "assistant", "go", *MODEL)
    assert (done.returncode, done.stdout) == (0, '{"n": 7}\n'), done.stderr


SKILL = (
    "---\nname: task\ndescription: x\nallowed-tools: list-directory\nmetadata:\n  category: read\n{more}---\nDo it.\n"
)
RETURNS = "  returns: {type: object, required: [n], properties: {n: {type: integer}}}\n"
LOOK = call("list_directory", path=".")


@pytest.mark.spec("R-AG-1", "R-AG-3", "R-AG-10", "R-RET-4", "R-LIM-2", "R-LIM-5", "R-LIM-7")
@pytest.mark.parametrize(
    ("more", "rounds", "code", "out", "said"),
    [
        (RETURNS, [[{"text": "words"}], call("finish", n=3)], 0, '{"n": 3}\n', "[task: done]"),
        (RETURNS, [[{"text": "words"}]] * 9, 1, "", "ended with no valid result"),
        (
            "  model: {maxTurns: 2}\n",
            [LOOK, LOOK, [{"text": "more"}]],
            1,
            "Stopped: maxTurns 2 (set by the skill task)",
            "Stopped: maxTurns 2 (set by the skill task).",
        ),
        ("  model: {maxSteps: 1}\n", [LOOK, LOOK, LOOK], 1, "", "maxSteps 1 (set by the skill task)"),
        ("  model: {maxTurns: 0}\n", [LOOK], 2, "", "maxTurns"),
        ("  model: {agent: agent-nope}\n", [LOOK], 2, "", "There is no agent provider named agent-nope"),
        ("  model: {agent: agent-demo}\n", [LOOK], 0, "", "[task: done]"),
        ("", [[]], 0, "", "The model answered with nothing."),
        ("", [[{"error": {"code": "model.key_refused", "message": "The key is wrong."}}]], 1, "", "The key is wrong."),
    ],
)
def test_a_skill_in_words_keeps_to_what_it_declares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str, rounds: list[Any], code: int, out: str, said: str
) -> None:
    home = Home(tmp_path / "h", *rounds)
    (home.path / "skills").mkdir()
    (home.path / "skills" / "task.skill.md").write_text(SKILL.format(more=more))
    returned = main(["task", "hello", *MODEL, *home.options])
    told = capsys.readouterr()
    assert returned == code, told
    assert out in told.out
    assert said in told.err


def test_a_skill_in_words_hears_the_message_or_takes_arguments_and_tells_what_happens_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path / "h", [{"text": "Ahoy."}, {"usage": {"input": 7, "output": 2}}])
    (home.path / "skills").mkdir()
    params = "  params: {type: object, properties: {n: {type: integer}}, required: [n]}\n"
    (home.path / "skills" / "task.skill.md").write_text(SKILL.format(more=params))
    assert main(["task", '{"n": 3}', "--json", *MODEL, *home.options]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = [event["type"] for event in events if event["type"] != "message"]
    ends = ["turn-end", "agent-complete", "tool-call-finished", "result"]
    assert told == ["tool-call-started", "agent-start", "turn-start", *ends]
    assert (events[0]["arguments"], events[-1]["text"]) == ({"n": 3}, "Ahoy.")
    assert events[-1]["usage"]["input_tokens"] == 7
    assert len({event["run_id"] for event in events}) == 1
    assert main(["task", "three", *MODEL, *home.options]) == 2  # it takes a number: nothing was begun
    assert '"n" is a required property' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("assistant", "x", "--allow", "*"), "--allow '*' is no rule: A rule that allows names its tool"),
        (("assistant", "x", "--allow", "#write"), "--allow '#write' is no rule"),
        (("assistant", "x", "--model", "nothing"), "no connection for the model 'nothing'"),
        (("assistant", "x", "--model", "local/x"), "no connection for the model 'local/x'; connections: none"),
        (("broken", "x"), "broken.skill.md:4:1: "),
    ],
)
def test_a_mistake_is_named_before_anything_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    home = Home(tmp_path / "h", [{"text": "never"}])
    (home.path / "skills").mkdir()
    (home.path / "skills" / "broken.skill.md").write_text("---\nname: broken\ndescription: [\n---\nx")
    (home.path / "config.yaml").write_text("limits:\n  concurrent_runs: many\n")
    assert main([*words, *home.options]) == 2
    told = capsys.readouterr()
    assert said in told.err
    if "--allow" not in words:
        assert "config.yaml, line 2" in told.err
    assert told.out == ""


@pytest.mark.spec("R-PRM-11")
def test_a_rule_may_name_a_tool_as_events_do_and_one_that_names_nothing_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path / "h", call("write_file", path="a.txt", content="x"), [{"text": "Done."}])
    rules = ("--allow", "write_file(path=a*)", "--allow", "not_there")
    assert main(["assistant", "go", *rules, *MODEL, *home.options]) == 0
    assert (home.workspace / "a.txt").read_text() == "x"
    assert "there is no tool and no skill named not-there" in capsys.readouterr().err


@pytest.mark.parametrize(("into", "code", "said"), [(">/dev/full", 1, "No space left"), (">&-", 2, "stdout is closed")])
def test_an_answer_that_cannot_be_written_is_no_traceback(tmp_path: Path, into: str, code: int, said: str) -> None:
    home = Home(tmp_path / "h", [{"text": "begin"}])
    command = f"{shlex.join(home.command('assistant', 'go', *MODEL))} {into}"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == code
    assert done.stderr.startswith("assent: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_a_skill_in_code_lends_the_given_model_to_the_skills_that_it_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path / "h", [{"text": "Ahoy."}])
    (home.path / "skills").mkdir()
    (home.path / "skills" / "task.skill.md").write_text(SKILL.format(more=""))
    code = 'frontmatter = {"name": "outer", "description": "x", "metadata": {"category": "read"}}\n'
    (home.path / "skills" / "outer.skill.py").write_text(
        f"{code}async def run(ctx, args):\n    return await ctx.manager.invoke('task', {{}})\n"
    )
    assert main(["outer", "{}", *MODEL, *home.options]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out == "Ahoy.\n"


@pytest.mark.spec("R-CAN-1")
def test_an_interrupt_stops_the_run_and_leaves_nothing_behind(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", [{"text": "begin"}, {"hang": True}])
    process = subprocess.Popen(
        home.command("assistant", "go", *MODEL), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    heard, until = "", time.monotonic() + WAIT_S
    while "begin" not in heard and time.monotonic() < until:
        heard += process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130, error
    again = home.run("skill-list", "{}")
    assert again.returncode == 0, again.stderr  # the home is free and whole


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_run_that_nobody_reads_any_more_ends_and_says_why(tmp_path: Path, form: tuple[str, ...]) -> None:
    endless = {"times": -1, "steps": [{"text": "more "}, {"wait": 0.01}]}
    home = Home(tmp_path / "h", [endless])
    with subprocess.Popen(
        home.command("assistant", "go", *form, *MODEL),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
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
        home.command("sleeper", "{}", "--allow", "sleeper", *MODEL),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until, logs = time.monotonic() + WAIT_S, home.path / "data" / "assent.db"
    while not logs.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130, error
    assert error == "assent: stopped\n"


@pytest.mark.spec("R-UI-10")
def test_an_agent_that_hands_the_conversation_over_is_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = (call("taker_agent", message="Take it."), [{"text": "I have it."}])
    home = Home(tmp_path / "h", *rounds)
    (home.path / "agents").mkdir()
    (home.path / "agents" / "taker_agent.yaml").write_text(
        "name: taker_agent\ntype: ai_human\nexposeAsTool: true\ntoolDescription: Takes over.\nhandoff: transfer\n"
        "sideA: {prompt: assistant}\n"
    )
    assert main(["assistant", "go", *MODEL, *home.options]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out == "I have it.\n"


AT_ONCE = """
import os, signal, sys
from desktop.app.main import main
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "desktop.app.commands.headless":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupted())
sys.exit(main(["run", "assistant", "hello", "--home", sys.argv[1]]))
"""


@pytest.mark.spec("R-CAN-1")
def test_an_interrupt_while_it_still_loads_is_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AT_ONCE, str(tmp_path / "h")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "assent: stopped\n")


@pytest.mark.parametrize("where", ["skills", "person/.claude/skills"])
def test_a_script_of_a_skill_runs_by_bash_as_any_command(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not below /tmp, of which a command in bubblewrap sees its own: no person's skills lie there."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        path = Path(os.path.realpath(name))
        folder = path / where / "stamp"
        (folder / "scripts").mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: stamp\ndescription: Stamps.\n---\nRun scripts/stamp.sh.\n")
        (folder / "scripts/stamp.sh").write_text('head -2 "$(dirname "$0")/../SKILL.md"; echo stamped $1; touch "$0"\n')
        run = f"bash {folder}/scripts/stamp.sh now"
        home = Home(path, call("skill_invoke", ref="stamp", args={}), call("bash", command=run), [{"text": "Done."}])
        monkeypatch.setenv("HOME", str(path / "person"))
        before = (folder / "scripts/stamp.sh").stat().st_mtime_ns
        done = home.run("assistant", "stamp it", *MODEL, "--json", "--allow", "bash(command=bash *)")
        said = [json.loads(line) for line in done.stdout.splitlines()]
        results = [event["text"] for event in said if event["type"] == "tool-call-finished"]
        assert f"Its folder is {folder};" in results[0]
        assert "name: stamp\nstamped now\n" in results[1]
        assert (folder / "scripts/stamp.sh").stat().st_mtime_ns == before


KEEPER = "---\nname: keeper\ndescription: x\nmetadata:\n  model: {persistent: true}\n---\nKeep.\n"
KEEPER_AGENT = "name: keeper_agent\ndescription: Keeps.\nsideA: {prompt: keeper}\n"


@pytest.mark.spec("D-10")
def test_a_message_from_another_process_reaches_a_persistent_agent_that_waits(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", [{"text": "One."}], [{"text": "Two."}])
    for folder, name, text in (("skills", "keeper.skill.md", KEEPER), ("agents", "keeper.yaml", KEEPER_AGENT)):
        (home.path / folder).mkdir()
        (home.path / folder / name).write_text(text)

    def send(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "desktop", "send", *words, "--home", str(home.path)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S)

    alone = send("abcdef", "hello")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "Assent does not run with this home" in alone.stderr
    words = ("keeper_agent", "begin", "--json", *MODEL)
    with subprocess.Popen(home.command(*words), cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None

            def until(kind: str, **fields: Any) -> dict[str, Any]:
                for line in process.stdout:  # type: ignore[union-attr]
                    event = json.loads(line)
                    if event["type"] == kind and fields.items() <= event.items():
                        return dict(event)
                raise AssertionError(f"{kind} never came")

            address = until("agent-listening", waiting=True)["context_id"]
            strange = send("0000" + address, "hello")
            assert (strange.returncode, "No persistent agent has the address" in strange.stderr) == (2, True)
            assert send(address[:8], "More, please.").returncode == 0
            assert until("text-arrived")["text"] == "Two."
            until("agent-listening", waiting=True)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(WAIT_S)
    assert process.returncode == 130


@pytest.mark.spec("D-10")
def test_who_reads_plain_text_is_told_where_a_persistent_agent_is_written_to(tmp_path: Path) -> None:
    home = Home(tmp_path / "h", [{"text": "One."}])
    for folder, name, text in (("skills", "keeper.skill.md", KEEPER), ("agents", "keeper.yaml", KEEPER_AGENT)):
        (home.path / folder).mkdir()
        (home.path / folder / name).write_text(text)
    command = home.command("keeper_agent", "begin", *MODEL)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = next(line for line in process.stderr if "waits for a message" in line)
        finally:
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=WAIT_S)[0]
    assert re.fullmatch(r'assent: Keeper agent waits for a message: assent send [0-9a-f]{16,} "…"\n', line)
    assert said == "One.\n"


@pytest.mark.spec("R-PRJ-1", "R-PRJ-2", "R-PRJ-3")
def test_it_works_in_the_folder_that_it_was_given_and_in_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "tides"
    project.mkdir()
    (project / "AGENTS.md").write_text("Say hello.\n")
    (project / "plan.txt").write_text("the plan\n")
    rounds = (call("read_file", path="plan.txt"), call("bash", command="pwd"), [{"text": "Done."}])
    home = Home(tmp_path / "h", *rounds)
    monkeypatch.chdir(tmp_path)
    done = home.run_here(
        capsys, "assistant", "look", "--project", "tides", "--json", "--allow", "bash(command=pwd)", *MODEL
    )
    assert done.returncode == 0, done.stderr
    assert "AGENTS.md: told to the model" in done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines() if '"tool-call-finished"' in line]
    assert ["the plan" in results[0]["text"], str(project) in results[1]["text"]] == [True, True]
    again = home.run_here(capsys, "assistant", "look", "--json", *MODEL)
    assert '"the plan' not in again.stdout, "without it, it works in none"


@pytest.mark.spec("R-PRJ-1", "R-PRJ-2")
@pytest.mark.parametrize("folder", ["/", "gone", "file.txt", "h", "h/data", "~/.ssh"])
def test_a_folder_that_no_thread_can_work_in_begins_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    home = Home(tmp_path / "h", [{"text": "Done."}])
    (tmp_path / "file.txt").write_text("no folder")
    monkeypatch.chdir(tmp_path)
    done = home.run_here(capsys, "assistant", "look", "--project", folder, *MODEL)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Choose another folder." in done.stderr

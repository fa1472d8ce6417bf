"""Definitions of agents: fields, defaults, every problem at once, icons, variables, hostile files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.runs.supervision import Priority
from desktop.services.definitions.book import AgentBook, AgentFiles, AgentFolder
from desktop.services.definitions.saving import definition_text
from desktop.services.definitions.text import MAX_BYTES, read_raw, read_text, text_of
from desktop.services.definitions.values import cleaned_icon
from desktop.skills.catalogue.pins import Pins
from tests.harness.definitions import load_agents

ROOT = Path(__file__).resolve().parents[4]
MINIMUM = {"name": "some_agent", "sideA": {"prompt": "assistant"}}
DUAL: dict[str, Any] = {
    "name": "two_agent",
    "type": "dual_ai",
    "maxSessionTurns": 10,
    "sideA": {"prompt": "debate_pro"},
    "sideB": {"prompt": "debate-con"},
}


def read(data: Any) -> Any:
    return read_text(json.dumps(data), "x.json")


def codes(data: Any) -> set[tuple[str, str]]:
    return {(problem.path, problem.code) for problem in read(data).problems if not problem.warning}


def warnings(data: Any) -> set[tuple[str, str]]:
    return {(problem.path, problem.code) for problem in read(data).problems if problem.warning}


@pytest.mark.spec("R-DEF-1", "R-DEF-4", "S-DEF-2")
def test_the_least_that_is_a_definition_has_the_defaults_of_the_source() -> None:
    found = read(MINIMUM)
    assert found.problems == ()
    assert found.definition == AgentDefinition("some_agent", SideDefinition("assistant"), origin="x.json")
    made = found.definition
    assert (made.type, made.side_b, made.max_turns, made.expose_as_tool, made.environment) == (
        "ai_human",
        None,
        None,
        False,
        {},
    )
    side = made.side_a
    assert (side.stop_on_response, side.stop_tool, side.stop_property, side.max_rounds, side.end_session_tool) == (
        True,
        "",
        "",
        None,
        "",
    )
    assert (made.label_of("a"), made.label_of("b")) == ("Some agent", "You")
    dual = read(DUAL).definition
    assert (dual.label_of("a"), dual.label_of("b")) == ("Side A", "Side B")


@pytest.mark.spec("R-DEF-1", "C-17")
def test_every_field_of_the_source_is_read_from_yaml_and_from_json_alike() -> None:
    full = {
        "name": "full_agent",
        "title": "Full",
        "type": "dual_ai",
        "maxSessionTurns": 12,
        "exposeAsTool": True,
        "toolDescription": "Does all.",
        "description": "All of it.",
        "icon": "/icons/agent.svg",
        "tenvs": {"CITY": "Oslo", "N": 3},
        "sideA": {
            "label": "A",
            "prompt": "one",
            "stopOnResponse": False,
            "stopTool": "done",
            "stopToolResponseProperty": "value",
            "maxSteps": 7,
            "endSessionTool": "close_ticket",
        },
        "sideB": {"label": "B", "prompt": "two"},
    }
    found = read(full)
    assert found.problems == ()
    side = SideDefinition("one", "A", False, "done", "value", 7, "close_ticket")
    assert found.definition == AgentDefinition(
        "full_agent",
        side,
        "Full",
        "dual_ai",
        SideDefinition("two", "B"),
        12,
        True,
        "Does all.",
        "All of it.",
        "/icons/agent.svg",
        {"CITY": "Oslo", "N": "3"},
        origin="x.json",
    )
    lines = [f"{key}: {json.dumps(value)}" for key, value in full.items()]
    from_yaml = read_text("\n".join(lines), "x.yaml")
    assert from_yaml.problems == ()
    assert from_yaml.definition is not None
    assert found.definition is not None
    assert from_yaml.definition.side_a == found.definition.side_a
    assert from_yaml.place("sideA.maxSteps")[0] == lines.index(next(line for line in lines if "maxSteps" in line)) + 1


NAMES = [
    "",
    " ",
    "../x",
    "a/b",
    "a\\b",
    ".a",
    "..",
    "-rf",
    "c:a",
    "a" * 81,
    " a",
    "a ",
    "a\n",
    "a\nb",
    "a\u202eb",
    "a\u200b",
    "a\0",
    None,
    7,
    ["a"],
]


@pytest.mark.spec("R-DEF-2")
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_could_be_a_path_or_is_none_is_refused(name: Any) -> None:
    assert ("name", "name.invalid") in codes({**MINIMUM, "name": name})


@pytest.mark.spec("R-DEF-2")
def test_an_ending_other_than_agent_is_a_warning_and_nothing_more() -> None:
    found = read({**MINIMUM, "name": "customer_support"})
    assert found.definition is not None
    assert [(problem.code, problem.warning) for problem in found.problems] == [("name.suffix", True)]
    assert read({**MINIMUM, "name": "a" * 58 + "_agent"}).problems == ()


WRONG: list[tuple[str, dict[str, Any], tuple[str, str]]] = [
    ("R-DEF-3", {"sideA": None}, ("sideA", "side.missing")),
    ("R-DEF-3", {"sideA": {}}, ("sideA.prompt", "field.missing")),
    ("R-DEF-3", {"sideA": {"prompt": "  "}}, ("sideA.prompt", "field.missing")),
    ("R-DEF-3", {"sideA": {"prompt": 3}}, ("sideA.prompt", "field.type")),
    ("R-DEF-3", {"sideA": {"prompt": "../../etc/passwd"}}, ("sideA.prompt", "prompt.name")),
    ("R-DEF-3", {"sideA": "assistant"}, ("sideA", "field.type")),
    ("R-DEF-4", {"type": "three_ai"}, ("type", "type.unknown")),
    ("R-DEF-4", {"type": ["dual_ai"]}, ("type", "type.unknown")),
    ("R-DEF-5", {"type": "dual_ai"}, ("sideB", "side.missing")),
    ("R-DEF-5", {"type": "dual_ai", "sideB": {"label": "B"}}, ("sideB.prompt", "field.missing")),
    ("R-DEF-6", {"exposeAsTool": True}, ("toolDescription", "tool.description")),
    ("R-DEF-6", {"exposeAsTool": True, "toolDescription": " "}, ("toolDescription", "tool.description")),
    ("R-DEF-7", {"sideA": {"prompt": "a", "stopTool": "x"}}, ("sideA.stopToolResponseProperty", "stop.property")),
    ("R-DEF-8", {"maxSessionTurns": 0}, ("maxSessionTurns", "limit.value")),
    ("R-DEF-8", {"maxSessionTurns": True}, ("maxSessionTurns", "limit.value")),
    ("R-DEF-8", {"sideA": {"prompt": "a", "maxSteps": -1}}, ("sideA.maxSteps", "limit.value")),
    ("R-DEF-8", {"sideA": {"prompt": "a", "maxSteps": 1.5}}, ("sideA.maxSteps", "limit.value")),
    ("R-DEF-8", {"sideA": {"prompt": "a", "maxSteps": "5"}}, ("sideA.maxSteps", "limit.value")),
    ("R-DEF-12", {"sideA": {"prompt": "a", "stopOnResponse": False}}, ("sideA.stopOnResponse", "stop.never")),
    ("R-DEF-1", {"sideA": {"prompt": "a", "stopOnResponse": "yes"}}, ("sideA.stopOnResponse", "field.type")),
    ("R-DEF-1", {"title": "a" * 81}, ("title", "field.length")),
    ("R-DEF-1", {"title": "evil\u202etxt"}, ("title", "field.characters")),
    ("R-DEF-15", {"tenvs": ["a"]}, ("tenvs", "field.type")),
    ("R-DEF-15", {"tenvs": {"a b": "x"}}, ("tenvs.a b", "environment.name")),
    ("R-DEF-15", {"tenvs": {"A": ["x" * 2000]}}, ("tenvs.A", "environment.value")),
    ("R-DEF-15", {"tenvs": {"A": "x" * 2001}}, ("tenvs.A", "environment.value")),
    ("R-DEF-15", {"tenvs": {"DB": {"host": "x", "password": "y"}}}, ("tenvs.DB", "environment.secret")),
    ("R-DEF-15", {"tenvs": {"DB": [{"of": {"api_key": 1}}]}}, ("tenvs.DB", "environment.secret")),
    ("R-DEF-15", {"tenvs": {"DB": ["sk-" + "a1" * 20]}}, ("tenvs.DB", "environment.secret")),
    ("R-DEF-15", {"tenvs": {"OPENAI_API_KEY": "x"}}, ("tenvs.OPENAI_API_KEY", "environment.secret")),
    ("R-DEF-15", {"tenvs": {"dbPassword": "x"}}, ("tenvs.dbPassword", "environment.secret")),
    *(
        ("R-DEF-15", {"tenvs": {name: "x"}}, (f"tenvs.{name}", "environment.secret"))
        for name in (
            "DB_PASS",
            "MYSQL_PWD",
            "AUTH",
            "GITHUB_PAT",
            "PIN",
            "PRIVATE",
            "SLACK_WEBHOOK",
            "dbKey",
            "apikey",
            "KEY2",
            "HTTPAuth",
            "OPENAIKEY",
            "KEYFILE",
            "MONKEY_KEY",
        )
    ),
    ("R-DEF-15", {"tenvs": {"A": "sk-" + "a1" * 20}}, ("tenvs.A", "environment.secret")),
    ("R-DEF-15", {"tenvs": {"A": "https://me:pw@host/x"}}, ("tenvs.A", "environment.secret")),
    ("R-DEF-15", {"tenvs": {"A": "${keyring:assent/x}"}}, ("tenvs.A", "environment.secret")),
    ("R-AAT-1", {"handoff": "both"}, ("handoff", "handoff.unknown")),
    *(
        ("R-SUP-14", {"priority": wrong}, ("priority", "priority.unknown"))
        for wrong in ("critical", "HIGH", 4, True, [])
    ),
]


@pytest.mark.spec(
    "R-DEF-3", "R-DEF-4", "R-DEF-5", "R-DEF-6", "R-DEF-7", "R-DEF-8", "R-DEF-12", "R-DEF-14", "R-DEF-15", "R-LIM-7"
)
@pytest.mark.parametrize(("rule", "change", "expected"), WRONG)
def test_each_mistake_has_its_field_and_a_code_that_stays(
    rule: str, change: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert expected in codes({**MINIMUM, **change}), rule
    assert read({**MINIMUM, **change}).definition is None


@pytest.mark.spec("R-DEF-15")
def test_a_value_that_is_no_text_becomes_its_json() -> None:
    given = {"A": {"b": [1, 2.5, None, True]}, "B": None, "C": 3, "D": False, "E": "text", "F": "1", "G": []}
    assert read({**MINIMUM, "tenvs": given}).definition.environment == {
        "A": '{"b": [1, 2.5, null, true]}',
        "B": "null",
        "C": "3",
        "D": "false",
        "E": "text",
        "F": "1",
        "G": "[]",
    }


@pytest.mark.spec("R-DEF-15")
def test_a_name_that_only_sounds_like_a_secret_is_none() -> None:
    names = ("MONKEY", "KEYBOARD", "keyboardLayout", "HOTKEYS", "PATH", "AUTHOR", "SPINNER", "BYPASS", "PWD", "PATTERN")
    found = read({**MINIMUM, "tenvs": dict.fromkeys(names, "x")})
    assert dict(found.definition.environment) == dict.fromkeys(names, "x")
    assert {(one.path, one.code, one.warning) for one in found.problems} == {
        (f"tenvs.{name}", "environment.texts", True) for name in ("PATH", "PWD")
    }, "which commands keep as they are"


@pytest.mark.spec("R-DEF-15")
@pytest.mark.parametrize(
    "value",
    [
        "redis://:hunter22@cache:6379",
        "npm_0123456789abcdefghijABCDEFGHIJ012345",
        "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAw",
        "SG.abcdefghijklmnop.qrstuvwxyz012345",
        "dop_v1_0123456789abcdef0123456789abcdef",
        "AccountKey=abcdEFGH0123+",
        "https://hooks.slack.com/services/T000/B000/XXXXXXXX",
        "https://x.example/v1?api_key=0123456789abcdef",
    ],
)
def test_a_value_that_looks_like_a_secret_is_refused_under_any_name(value: str) -> None:
    assert ("tenvs.PLACE", "environment.secret") in codes({**MINIMUM, "tenvs": {"PLACE": value}})


@pytest.mark.spec("R-DEF-15")
@pytest.mark.parametrize(
    "value", ["https://x.example/a?key=1", "notes://a:b", "SG.1", "npm_run", "C:/Users/me", "the token of my esteem"]
)
def test_a_value_that_only_resembles_one_is_kept(value: str) -> None:
    assert read({**MINIMUM, "tenvs": {"PLACE": value}}).problems == ()


@pytest.mark.spec("R-SUP-14")
def test_a_definition_may_say_what_its_agent_counts_for() -> None:
    assert read(MINIMUM).definition.priority is None
    for name in ("background", "low", "normal", "high"):
        definition = read({**MINIMUM, "priority": name}).definition
        assert definition.priority is Priority[name.upper()]
        assert f'priority: "{name}"' in definition_text(definition)


@pytest.mark.spec("R-DEF-14")
def test_all_mistakes_are_told_at_once() -> None:
    bad = {
        "name": "../bad",
        "type": "dual_ai",
        "maxSessionTurns": 0,
        "exposeAsTool": True,
        "icon": "javascript:x",
        "tenvs": {"TOKEN": "x"},
        "sideA": {"prompt": "", "stopTool": "x", "maxSteps": 0},
        "typo": 1,
    }
    assert codes(bad) == {
        ("name", "name.invalid"),
        ("maxSessionTurns", "limit.value"),
        ("toolDescription", "tool.description"),
        ("icon", "icon.invalid"),
        ("tenvs.TOKEN", "environment.secret"),
        ("sideA.prompt", "field.missing"),
        ("sideA.maxSteps", "limit.value"),
        ("sideA.stopToolResponseProperty", "stop.property"),
        ("sideB", "side.missing"),
        ("typo", "field.unknown"),
    }


@pytest.mark.spec("R-DEF-1")
@pytest.mark.parametrize(
    ("field", "meant"),
    [("sidea", "sideA"), ("side_a", "sideA"), ("maxTurns", "maxSessionTurns"), ("tool_description", "toolDescription")],
)
def test_an_unknown_field_is_an_error_that_names_what_was_meant(field: str, meant: str) -> None:
    problem = next(one for one in read({**MINIMUM, field: 1}).problems if one.code == "field.unknown")
    assert problem.path == field
    assert f"did you mean {meant}?" in problem.text
    assert ("sideA.prmpt", "field.unknown") in codes({**MINIMUM, "sideA": {"prompt": "a", "prmpt": "b"}})


@pytest.mark.spec("R-DEF-5", "R-DEF-8")
def test_what_counts_for_nothing_and_what_should_be_set_is_a_warning() -> None:
    assert warnings({**DUAL, "maxSessionTurns": None}) == {("maxSessionTurns", "turns.unset")}
    assert warnings({**DUAL, "maxSessionTurns": 10_000}) == {("maxSessionTurns", "limit.capped")}
    assert read({**DUAL, "maxSessionTurns": 10_000}).definition.max_turns == 250
    assert warnings({**MINIMUM, "sideB": {"prompt": "x"}}) == {("sideB", "side.unused")}
    assert warnings({**MINIMUM, "maxSessionTurns": 4}) == {("maxSessionTurns", "turns.unused")}
    assert codes({**DUAL, "handoff": "transfer"}) == {("handoff", "handoff.dual")}


@pytest.mark.spec("R-DEF-1", "R-DEF-15", "S-DEF-4")
def test_the_newer_names_of_fields_are_read_as_the_older_ones() -> None:
    side = {"prompt": "a", "sessionStop": {"name": "close_ticket", "messageProperty": "note"}, "sessionFail": "give_up"}
    found = read({**MINIMUM, "sideA": side, "env": {"CITY": "Oslo"}})
    assert found.definition is not None
    assert found.definition.side_a.end_session_tool == "close_ticket"
    assert found.definition.environment == {"CITY": "Oslo"}
    assert {(p.path, p.code) for p in found.problems} == {
        ("sideA.sessionStop", "field.unused"),
        ("sideA.sessionFail", "field.unused"),
    }
    assert read({**MINIMUM, "sideA": {"prompt": "a", "sessionStop": "x"}}).definition.side_a.end_session_tool == "x"
    assert codes({**MINIMUM, "env": {}, "tenvs": {"A": "b"}}) == {("env", "field.double")}
    assert ("sideA.sessionStatus", "field.type") in codes({**MINIMUM, "sideA": {"prompt": "a", "sessionStatus": 3}})


ICONS_REFUSED = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "\x01javascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:x",
    "\u200bjavascript:x",
    "data:image/svg+xml,<svg/>",
    "DATA:x",
    "file:///etc/passwd",
    "//evil.example/x.svg",
    "/\t/evil.example/x.svg",
    "/\\evil.example",
    "\\\\evil",
    "/%2fevil.example/x",
    "/../../etc/passwd",
    "/icons/../../x.svg",
    "/icons/%2e%2e/%2e%2e/x.svg",
    "/icons/%252e%252e/x",
    "vbscript:x",
    "ftp://x/y",
    "icons/x.svg",
    "blob:x",
    "https://",
    "http:///x",
    "https://user:pw@host/x.svg",
    "https://ho st/x",
    "https://[::1",
    "about:blank",
    'https://h/"onerror=x',
]


@pytest.mark.spec("R-DEF-9")
@pytest.mark.parametrize("icon", ICONS_REFUSED)
def test_an_icon_that_could_run_or_leave_the_resources_is_refused(icon: str) -> None:
    cleaned, problem = cleaned_icon(icon)
    assert problem
    assert not cleaned
    assert {code for path, code in codes({**MINIMUM, "icon": icon}) if path == "icon"}


@pytest.mark.spec("R-DEF-9")
def test_a_path_of_the_resources_and_an_address_of_the_web_are_icons_without_what_is_not_seen() -> None:
    for icon in ("/icons/own.svg", "https://example.com/icon.svg", "HTTP://example.com/x.svg"):
        for given in (icon, f"\x00 {icon}\n", f"\u200b{icon[:3]}\x01{icon[3:]}"):
            assert cleaned_icon(given) == (icon, ""), given
        found = read({**MINIMUM, "icon": icon})
        assert found.definition is not None
        assert (found.definition.icon, [p for p in found.problems if p.path == "icon"]) == (icon, [])
    assert cleaned_icon("\x00 \n") == ("", "")


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{n}: &{n} [{', '.join(['*' + m] * 10)}]\n" for m, n in zip("abcdefg", "bcdefgh", strict=True)
)
HOSTILE = [
    BOMB,
    "name: [" * 400,
    "{" * 5000,
    "!!python/object/apply:os.system ['true']",
    "name: !!python/name:os.system ''",
    "name: &a [*a]",
    "name: a\nname: b",
    "- a\n- b",
    "name: a\n---\nname: b",
    "\tname: a",
    "name: 'a",
    "\x00",
    "name: \u0085\x07",
    "? [a]\n: b",
    "<<: [1]",
    "x" * (MAX_BYTES + 1),
]
HOSTILE_JSON = [
    "",
    "[]",
    "null",
    '{"name": NaN}',
    '{"name": "a", "name": "b"}',
    "[" * 100_000,
    '{"a":' * 13 + "1" + "}" * 13,
    "{" + '"a": 1' + "0" * 5000 + "}",
    '"text"',
]


@pytest.mark.spec("R-DEF-14", "R-DEF-16")
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_yaml_is_one_problem_with_a_place_and_costs_no_time(text: str) -> None:
    began = time.process_time()
    found = read_text(text, "x.yaml")
    assert time.process_time() - began < 5  # a bomb would take minutes and the memory
    assert found.definition is None
    assert any(not problem.warning for problem in found.problems)


@pytest.mark.spec("R-DEF-14", "R-DEF-16")
@pytest.mark.parametrize("text", HOSTILE_JSON)
def test_hostile_json_is_a_problem_too(text: str) -> None:
    found = read_text(text, "x.json")
    assert found.definition is None
    assert found.problems


@pytest.mark.spec("R-DEF-16")
def test_what_is_no_plain_file_of_this_size_is_not_read_and_nothing_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "large.yaml").write_bytes(b"x" * (MAX_BYTES + 1))
    (tmp_path / "latin.yaml").write_bytes(b"name: \xff\xfe")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder.yaml").mkdir()
    for name in ("pipe", "large", "latin", "gone", "folder"):
        with pytest.raises((OSError, ValueError)):
            text_of(read_raw(str(tmp_path / f"{name}.yaml")))
    book = load_agents(tmp_path)
    assert book.agents == {}
    assert len(book.problems) == 5


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.spec("R-DEF-16", "R-DEF-17")
def test_folders_are_read_in_order_and_a_name_counts_once(tmp_path: Path) -> None:
    mine, library = tmp_path / "mine", tmp_path / "library"
    write(mine, "one.yaml", "name: one_agent\nsideA: {prompt: mine}\n")
    write(mine, "same.json", json.dumps({"name": "one_agent", "sideA": {"prompt": "again"}}))
    write(mine, ".hidden.yaml", "name: [")
    write(mine, "notes.txt", "name: [")
    write(library, "one.yaml", "name: one_agent\nsideA: {prompt: theirs}\n")
    write(library, "two.yml", "name: two_agent\nsideA: {prompt: theirs}\n")
    book = AgentFiles([AgentFolder(str(mine)), AgentFolder(str(library), "library")]).reload()
    assert book.get("one_agent").side_a.prompt == "mine"
    assert set(book.agents) == {"one_agent", "two_agent"}
    doubles = [file for file in book.files if any(p.code == "name.duplicate" for p in file.problems)]
    assert [Path(file.path).name for file in doubles] == ["same.json", "one.yaml"]
    assert all(str(mine / "one.yaml") in file.problems[-1].text and file.definition is None for file in doubles)


@pytest.mark.spec("R-DEF-16")
def test_the_last_good_version_counts_while_a_file_is_broken_and_the_person_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "one.yaml", "name: one_agent\nsideA: {prompt: first}\n")
    files = AgentFiles([AgentFolder(str(tmp_path))])
    told: list[int] = []
    files.book.on_change(lambda: told.append(1))
    files.reload()
    path.write_text("name: one_agent\nsideA: {prompt: [}\n")
    book = files.reload()
    assert book.get("one_agent").side_a.prompt == "first"
    assert book.files[0].kept
    assert book.files[0].broken
    assert "What it said before counts until it is corrected." in book.problems[0]
    files.reload()
    assert files.book.get("one_agent").side_a.prompt == "first"
    path.write_text("name: one_agent\nsideA: {prompt: second}\n")
    assert files.reload().get("one_agent").side_a.prompt == "second"
    assert not book.problems
    path.unlink()
    assert files.reload().agents == {}
    assert len(told) == 5


class Kept(dict[str, Any]):
    """Where pins are kept."""

    def put(self, values: Mapping[str, Any]) -> None:
        self.update(json.loads(json.dumps(values)))


@pytest.mark.spec("R-FS-10", "R-DEF-16")
def test_what_comes_or_changes_in_a_project_is_off_until_a_person_has_looked_at_it(tmp_path: Path) -> None:
    mine, theirs, store = tmp_path / "mine", tmp_path / "proj/.agent/agents", Kept()
    mine.mkdir()
    folders = [AgentFolder(str(mine)), AgentFolder(str(theirs), "project")]
    first = write(theirs, "first.yaml", "name: first_agent\nsideA: {prompt: one}\n")
    files = AgentFiles(folders, pins=Pins(store))  # type: ignore[arg-type]
    assert set(files.reload().agents) == {"first_agent"}  # met for the first time
    first.write_text("name: first_agent\nsideA: {prompt: two}\n")
    mole = write(theirs, "mole.yaml", "name: mole_agent\nsideA: {prompt: x}\nexposeAsTool: true\n")
    write(mine, "own.yaml", "name: own_agent\nsideA: {prompt: x}\n")
    for again in (files, AgentFiles(folders, pins=Pins(store))):  # type: ignore[arg-type]  # after a restart, too
        book = again.reload()
        assert set(book.agents) == {"own_agent"}
        assert [Path(file.path).name for file in book.files if file.unseen] == ["first.yaml", "mole.yaml"]
        assert sum("it is new or has changed" in sentence for sentence in book.problems) == 2
    seen = {file.path: file.unseen for file in files.book.files}
    mole.write_text("name: mole_agent\nsideA: {prompt: y}\n")
    with pytest.raises(KnownError, match="changed once more"):
        files.accept(str(mole), seen[str(mole)])
    with pytest.raises(NotFound):
        files.accept(str(mine / "own.yaml"), "")
    files.accept(str(first), seen[str(first)])
    assert files.book.get("first_agent").side_a.prompt == "two"
    assert set(files.book.agents) == {"own_agent", "first_agent"}
    files.set_folders(folders[:1])  # no longer trusted, and then again
    files.set_folders(folders)
    assert set(files.book.agents) == {"own_agent", "first_agent", "mole_agent"}


@pytest.mark.spec("R-DEF-16")
def test_all_agents_that_come_with_the_app_are_without_a_mistake() -> None:
    book = load_agents(ROOT / "resources" / "agents")
    assert book.problems == ()
    assert {(p.path, p.code) for file in book.files for p in file.problems} == {
        ("name", "name.suffix")
    }  # the assistant
    for agent in book.agents.values():
        assert not agent.icon or (ROOT / "resources" / agent.icon.lstrip("/")).is_file(), agent.name


def test_an_agent_of_another_maker_that_is_off_is_not_said_to_be_unknown() -> None:
    with pytest.raises(NotFound, match=r"^opencode is off, or its program has changed since you looked at it") as off:
        AgentBook().get("acp_opencode")
    assert off.value.next_step == "Switch it on in Settings, Other agents, or choose another agent."
    with pytest.raises(NotFound, match=r"There is no agent named 'nobody'"):
        AgentBook().get("nobody")

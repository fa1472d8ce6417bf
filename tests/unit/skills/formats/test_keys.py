"""Each key of frontmatter acts, or its file says that it does nothing: the decision table, row by row (D-12)."""

from pathlib import Path

import pytest

from desktop.services.definitions.text import read_text
from desktop.skills.formats import keys
from desktop.skills.formats.keys import UNCLAIMED
from tests.unit.skills.formats.kit import load, markdown

pytestmark = pytest.mark.spec("D-12")

DESKTOP = Path(__file__).resolve().parents[4] / "desktop"
FORMS = {"": "{key}: x\n", "metadata": "metadata:\n  {key}: x\n", "model": "metadata:\n  model:\n    {key}: x\n"}
ACTING = [(place, key, where) for place, rows in keys.ACTS.items() for key, where in rows.items()]
IDLE = [(place, key) for place, rows in keys.IDLE.items() for key in rows]


def told(head: str, file: str = "a.skill.md") -> list[tuple[str, int]]:
    """Code and line of what is said of keys; none keeps the skill from running."""
    loaded = load(markdown(head), file)
    assert not [one for one in loaded.problems if one.severity == "error"]
    assert loaded.definitions[0].state == "ready"
    said = ("key.idle", "key.unknown", "key.value", UNCLAIMED)
    return [(one.code, one.line) for one in loaded.problems if one.code.startswith(said)]


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize("file", ["a.skill.md", "a/SKILL.md"])
@pytest.mark.parametrize(("place", "key"), IDLE)
def test_a_key_that_does_nothing_is_said_to_and_its_skill_runs(place: str, key: str, file: str) -> None:
    line = {"": 4, "metadata": 5, "model": 6}[place]
    assert told(FORMS[place].format(key=key), file) == [("key.idle", line)]


@pytest.mark.parametrize(("place", "key", "where"), ACTING)
def test_a_key_that_acts_is_read_where_the_table_says(place: str, key: str, where: str) -> None:
    assert f'"{key}"' in (DESKTOP / where).read_text("utf-8"), f"{place} {key}"


@pytest.mark.parametrize("key", sorted(keys.MIDDLEWARE))
def test_the_key_of_a_middleware_has_its_middleware(key: str) -> None:
    assert (DESKTOP.parent / "skills" / "middleware" / f"{key}.skill.py").is_file()
    assert told(f"metadata:\n  {key}: 5\n") == []


@pytest.mark.parametrize("key", ["paths", "mcp", "trust", "cwd", "workspace", "include"])
def test_a_flat_key_that_does_nothing_is_said_to_where_it_stands(key: str) -> None:
    assert told(f"license: x\n{key}: [a, b]\n") == [("key.idle", 5)]


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("disable-model-invocation: true\nargument-hint: x\nlicense: MIT\nversion: 1\nauthor: me\n", []),
        ("metadata:\n  version: 1\n  author: me\n  $order: {}\n", []),
        ("metadata:\n  author: me\n  my-middleware: {a: 1}\n", [("key.unclaimed.my-middleware", 6)]),
        ("metadata:\n  banana: yellow\n", [("key.unclaimed.banana", 5)]),
        ("metadata:\n  model: {maxTurns: 3, model: a/b}\n", []),
        ("alowed-tols: read-file\n", [("key.unknown", 4)]),
        ("disable_model_invocation: true\n", [("key.unknown", 4)]),
        ("metadata:\n  visibilty: hidden\n", [("key.unknown", 5)]),
        ("metadata:\n  Params: {}\n  returnz: {}\n", [("key.unknown", 5), ("key.unknown", 6)]),
        ("metadata:\n  model: {max_turns: 3}\n", [("key.unknown", 5)]),
        ("metadata:\n  model: {banana: 3}\n", [("key.unknown", 5)]),
        ("metadata:\n  someThing: 3\n", [("key.unknown", 5)]),
        ("banana: 3\nx-banana: 3\n", [("key.unknown", 4)]),
        ("metadata:\n  order: {before: [x]}\n", [("key.idle", 5)]),
        ("metadata:\n  role: middleware\n  order: {before: [x]}\n  hook: $next\n", []),
        ("metadata:\n  network: true\n  retries: true\n", [("key.idle", 5), ("key.idle", 6)]),
    ],
)
def test_what_nobody_knows_is_named_and_what_describes_a_skill_is_fine(head: str, said: list[tuple[str, int]]) -> None:
    assert sorted(told(head), key=lambda one: one[1]) == said


def test_a_folder_may_carry_keys_for_other_apps_but_no_misspelt_ones() -> None:
    assert told("banana: 3\nmetadata:\n  fooBar: 1\n", "a/SKILL.md") == []
    assert told("metadata:\n  banana: yellow\n  banana-bread: [a]\n", "a/SKILL.md") == []
    assert told("metadata:\n  banana: {a: 1}\n", "a/SKILL.md") == [("key.unclaimed.banana", 5)]
    assert told("allowed_tool: read-file\nuser_invocable: false\n", "a/SKILL.md") == [("key.unknown", 5)]


@pytest.mark.parametrize("head", ["1: x\n", "? [a, b]\n: x\n", "metadata:\n  1: x\n  true: y\n", "metadata: [paths]\n"])
def test_keys_that_are_no_text_break_nothing(head: str) -> None:
    load(markdown(head))


@pytest.mark.parametrize("key", ["paths", "cwd", "workspace", "include", "mcp", "max_session_turns"])
def test_an_agents_file_with_a_key_that_it_has_not_is_listed_with_that(key: str) -> None:
    said = read_text(f"name: a_agent\n{key}: x\nsideA: {{prompt: a}}\n", "a.yaml")
    assert [(one.path, one.code) for one in said.problems] == [(key, "field.unknown")]


ODD = [
    ("", "user-invocable", ("3", "maybe", "[a]", "{a: 1}"), ("false", "'True'", "", "${args.x}")),
    ("", "disable-model-invocation", ("3", "maybe", "[a]", "{a: 1}"), ("yes", "'false'")),
    ("", "argument-hint", ("3", "true", "{a: 1}"), ("a text", "[a, b]")),
    ("", "context", ("3", "forked", "[fork]"), ("fork",)),
    ("metadata", "model", ("3", "[a]", "sonnet", "/x"), ("connection/model", "{maxTurns: 3}")),
    ("metadata", "$inherit", ("3", "true", "{a: 1}", "[1]"), ("false", "a", "[a, b]")),
    ("metadata", "$order", ("3", "a", "[a]"), ("{a: {before: [b]}}",)),
    ("metadata", "$remove", ("3", "{a: 1}"), ("a b", "[a, b]")),
    ("metadata", "$local", ("3", "a", "[a]"), ("{a: 1}",)),
    ("metadata", "$global", ("3", "a", "[a]"), ("{a: 1}",)),
    ("metadata", "main", ("3", "{a: 1}"), ("false",)),
    ("model", "agent", ("3", "[a]", "No Name"), ("agent-litellm",)),
    ("model", "maxTurns", ("0", "-3", "many", "true", "2.5"), ("3", "${args.n}")),
    ("model", "maxSteps", ("0", "-3", "many", "true", "2.5"), ("3",)),
    ("model", "persistent", ("3", "maybe"), ("true",)),
    ("model", "contextEdit", ("3", "maybe"), ("true",)),
    ("model", "toolMode", ("3", "native"), ("both",)),
    ("model", "model", ("3", "[a]", "sonnet"), ("a/b", "a/b/c")),
]


@pytest.mark.spec("R-SK-11")
@pytest.mark.parametrize(("place", "key", "odd", "fine"), ODD)
def test_a_value_that_cannot_be_meant_is_said_to_and_the_skill_runs(
    place: str, key: str, odd: tuple[str, ...], fine: tuple[str, ...]
) -> None:
    line = {"": 4, "metadata": 5, "model": 6}[place]
    form = FORMS[place].replace("x", "{value}")
    for value in odd:
        assert told(form.format(key=key, value=value)) == [("key.value", line)], value
    for value in fine:
        assert told(form.format(key=key, value=value)) == [], value


def test_keys_of_middleware_and_of_code_have_their_values_and_their_place() -> None:
    head = "metadata:\n  role: middleware\n  order: 3\n  hook: around\n"
    assert told(head) == [("key.value", 6), ("key.value", 7)]
    assert told("entry: run\n") == [("key.idle", 4)]

"""Agents, commands and declarations of plugins: what is one, and what it becomes."""

from __future__ import annotations

import json

import pytest

from desktop.domain.text.places import FormatError
from desktop.skills.formats import load_from_bytes
from desktop.skills.repositories import plugins

LOOSE = """---
name: code-reviewer
description: Use this agent when: code is written. Examples:\\n\\n<example>Context: "a user" asks: why?</example>
tools: Read, Grep
model: opus
---
You review code.
"""


def loaded(text: str) -> tuple[str, str | None]:
    (one,) = load_from_bytes(text.encode(), "/x/a/SKILL.md", source="mine", root="/x").definitions
    assert one.state == "ready"
    return one.description, one.allowed_tools


def test_an_agent_becomes_a_skill_with_its_tools_and_its_text() -> None:
    made = plugins.agent(
        "agents/log.md", "---\nname: Log Reader\ndescription: Reads logs.\ntools: Read\n---\nRead it.\n"
    )
    assert made is not None
    assert made.name == "log-reader"
    assert loaded(made.text) == ("Reads logs.", "read-file")
    assert made.text.endswith("Read it.\n")


def test_a_head_that_is_no_yaml_is_read_by_lines_and_its_list_of_tools_is_kept() -> None:
    made = plugins.agent("agents/code-reviewer.md", LOOSE)
    assert made is not None
    description, tools = loaded(made.text)
    assert description.startswith("Use this agent when: code is written.")
    assert tools == "read-file find-text", "without the list it could call everything"


def test_what_has_no_name_or_description_is_no_agent() -> None:
    assert plugins.agent("agents/x.md", "---\nname: x\n---\nbody\n") is None
    with pytest.raises(FormatError):
        plugins.agent("agents/x.md", "# Only a text\n")


def test_quotes_are_put_around_texts_that_need_them_and_nothing_else() -> None:
    lines = ("name: a", "description: Use it: always", "allowed-tools: Read # x: Bash", "metadata:", "  x: y: z")
    head = "\n".join((*lines, "tags: [a, b: c]", "note: 'it: is'", ""))
    assert plugins.with_quotes(head) == head.replace("Use it: always", '"Use it: always"')


def test_a_command_is_named_by_its_file_and_described_by_its_first_line() -> None:
    made = plugins.command("commands/Fix Issue.md", "# Fix an issue\n\nFix $ARGUMENTS.\n")
    assert made is not None
    assert made.name == "fix-issue"
    assert loaded(made.text)[0] == "Fix an issue"
    assert plugins.command("commands/empty.md", "\n\n") is None


def test_a_description_that_is_too_long_is_cut_before_its_examples() -> None:
    words = f"{'Reads logs and says what is in them. ' * 3}<example>{'x' * 2000}</example>"
    made = plugins.agent("agents/a.md", f"---\nname: a\ndescription: {words}\n---\nb\n")
    assert made is not None
    assert loaded(made.text)[0].endswith("what is in them.")


def test_plugins_are_where_a_marketplace_says_and_where_a_plugin_json_lies() -> None:
    listed = {"plugins": [{"source": "./tools/gauges"}, {"source": "../out"}, {"source": {"source": "github"}}, 7]}
    market = ".claude-plugin/marketplace.json"
    roots = plugins.roots_of(
        ["p/one/.claude-plugin/plugin.json", "x/.claude/agents/a.md"], {market: json.dumps(listed)}
    )
    assert roots == {"", "tools/gauges", "p/one", "x/.claude"}
    assert plugins.roots_of(["gauges-main/agents/a.md"], {}) == {"", "gauges-main"}
    assert plugins.of_plugin("tools/gauges/agents/a.md", "agents", roots)
    assert not plugins.of_plugin("docs/agents/a.md", "agents", roots)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 50_000, '{"plugins": {}}', '{"mcpServers": []}'])
def test_declarations_that_say_nothing_are_nothing(text: str) -> None:
    assert plugins.roots_of([], {".claude-plugin/marketplace.json": text}) == {""}
    assert plugins.server_text("x/.claude-plugin/plugin.json", text) == ""
    assert plugins.hooks_in(text) == 0

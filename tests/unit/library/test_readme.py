"""What the README shows works."""

import re
from pathlib import Path

from desktop.conversation.agent_text import read_text
from desktop.domain.consents import Opening
from desktop.safety.environment import needs_admin
from desktop.skills.formats import load_from_bytes
from desktop.tools.cli_definitions import CliRules, parse

README = Path(__file__).resolve().parents[3] / "README.md"


def test_the_skills_that_the_readme_shows_load_without_a_problem() -> None:
    blocks = re.findall(r"```(markdown|python)\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    paths = ["/x/release-notes/SKILL.md", "/x/word-count.skill.py", "/x/agent-careful.skill.py"]
    assert [kind for kind, _ in blocks] == ["markdown", "python", "python"]
    for (_, text), path in zip(blocks, paths, strict=True):
        loaded = load_from_bytes(text.encode(), path, source="mine", root="/x")
        assert [definition.name for definition in loaded.definitions] == [path.split("/")[2].split(".")[0]]
        assert not loaded.problems


def test_the_tools_that_the_readme_shows_are_ones() -> None:
    blocks = re.findall(r"```yaml\n(tools:.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        found = parse(block, CliRules(needs_admin, opens=lambda entry: Opening(entry, entry, "opens")))
        assert found.problems == ()
    assert found.definitions[0].reads == ("~/.kube",)


def test_the_agent_that_the_readme_shows_is_one() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    (block,) = (text for text in blocks if "sideA" in text)
    found = read_text(block, "notes_keeper_agent.yaml")
    assert found.problems == ()
    assert found.definition is not None
    assert (found.definition.side_a.stop_tool, found.definition.environment) == ("classify", {"FOLDER": "notes"})

"""What the pages for users show of skills, tools and agents works."""

from desktop.domain.approval.consents import Opening
from desktop.safety.confinement.environment import needs_admin
from desktop.services.definitions.text import read_text
from desktop.services.help.pages import pages_of, read_pages
from desktop.skills.formats import load_from_bytes
from desktop.tools.cli.definitions import CliRules, parse
from tests.harness.help_pages import HELP, samples


def test_the_skills_that_the_pages_show_load_without_a_problem() -> None:
    in_words, in_code, agent = samples("skills", "markdown", "python")
    (provider,) = samples("models-and-providers", "python")
    (settings,) = samples("models-and-providers", "yaml")
    paths = {
        "/x/set-up.skill.md": f"---\nname: set-up\ndescription: Works.\n{settings}---\nDo it.\n",
        "/x/release-notes/SKILL.md": in_words,
        "/x/word-count.skill.py": in_code,
        "/x/two-opinions.skill.py": agent,
        "/x/agent-careful.skill.py": provider,
    }
    for path, text in paths.items():
        loaded = load_from_bytes(text.encode(), path, source="mine", root="/x")
        assert [definition.name for definition in loaded.definitions] == [path.split("/")[2].split(".")[0]]
        assert not loaded.problems


def test_the_tools_that_the_page_shows_are_ones() -> None:
    blocks = samples("tools", "yaml")
    assert len(blocks) == 2
    for block in blocks:
        found = parse(block, CliRules(needs_admin, opens=lambda entry: Opening(entry, entry, "opens")))
        assert found.problems == ()
    assert found.definitions[0].reads == ("~/.kube",)


def test_the_agent_that_the_page_shows_is_one() -> None:
    (block,) = samples("agents", "yaml")
    found = read_text(block, "notes_keeper_agent.yaml")
    assert found.problems == ()
    assert found.definition is not None
    assert (found.definition.side_a.stop_tool, found.definition.environment) == ("classify", {"FOLDER": "notes"})


def test_every_page_says_in_a_first_sentence_what_it_is_about() -> None:
    pages = pages_of(read_pages(HELP))
    assert pages
    assert [name for name, page in pages.items() if not page.about] == []

"""The tools that the page on tools shows, and the example that the page begins with, work as they stand."""

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.files.work_place import NOWHERE
from desktop.presenter.settings.cli_example import EXAMPLE
from desktop.tools.cli.definitions import CliRules, parse
from desktop.tools.cli.tool import CliTool
from tests.harness.help_pages import samples
from tests.unit.tools.cli.test_tool import Cli, cli

__all__ = ["cli"]


def declared(cli: Cli, text: str) -> CliTool:
    found = parse(text, CliRules(lambda _: False))
    assert found.problems == ()
    return CliTool(found.definitions[0], cli.services)


@pytest.mark.spec("R-CLI-1", "R-CLI-4")
async def test_the_first_tool_that_the_page_shows_finds_text_and_asks_nobody(cli: Cli) -> None:
    tool = declared(cli, samples("tools", "yaml")[0])
    (cli.bench.world.workspace / "a.txt").write_text("one\n$(two)\n$(two) again\n")
    assert (await tool.precheck({"text": "$(two)", "file": "a.txt"}, NOWHERE)).category is Category.READ
    assert (await cli.bench.run(tool, text="$(two)", file="a.txt")).text == "2:$(two)\n3:$(two) again\n"
    assert (await cli.bench.run(tool, text="$(two)", file="a.txt", most=1)).text == "2:$(two)\n"


@pytest.mark.spec("R-CLI-1")
async def test_the_example_of_the_page_counts_lines(cli: Cli) -> None:
    tool = declared(cli, EXAMPLE)
    assert (await tool.precheck({"file": "note.txt"}, NOWHERE)).category is Category.READ
    assert (await cli.bench.run(tool, file="note.txt")).text == "1 note.txt\n"


GREP = """
tools:
  - name: look
    description: Searches.
    category: read
    cmd: grep
    args: ["{{how}}", "{{text}}", "{{file}}"]
    parameters:
      how: {type: string, allow_leading_dash: true}
      text: {type: string}
      file: {type: string}
"""


@pytest.mark.spec("R-TOOL-4", "R-FS-7", "R-CLI-8")
@pytest.mark.parametrize(
    ("how", "file", "category"),
    [
        ("x", "a.txt", Category.READ),
        ("-5", "a.txt", Category.READ),
        ("-n", "a.txt", Category.WRITE),
        ("-nOtouch x;true", "a.txt", Category.WRITE),
        ("x", "/etc/hosts", Category.WRITE),
        ("x", "../../../outside/secret.txt", Category.WRITE),
        ("x", "link", Category.WRITE),
    ],
)
async def test_a_reading_tool_asks_for_options_that_a_call_chooses_and_for_files_outside(
    cli: Cli, how: str, file: str, category: Category
) -> None:
    (cli.bench.world.workspace / "a.txt").write_text("one")
    (cli.bench.world.workspace / "link").symlink_to("/etc/hostname")
    check = await declared(cli, GREP).precheck({"how": how, "text": "one", "file": file}, NOWHERE)
    assert check.denied is None
    assert check.category is category, check.raised_because

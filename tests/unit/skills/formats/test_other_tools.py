"""``allowed-tools`` of the Agent Skills specification and of Claude: what is understood binds, the rest warns."""

import pytest

from desktop.skills.formats.other_tools import read_list
from desktop.skills.patterns.lists import AllowedList
from tests.unit.skills.formats.kit import load, markdown, skill


def folder_skill(value: str) -> str:
    return markdown(f"allowed-tools: {value}\n", name="pdf")


GIT, JQ = "bash(command=git) bash(command=git *)", "bash(command=jq) bash(command=jq *)"


@pytest.mark.spec("R-PRJ-4")
@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("Bash(git:*) Bash(jq:*) Read", f"{GIT} {JQ} read-file"),
        ("Read, Write, Edit, MultiEdit", "read-file write-file edit-file"),
        ("Bash (git:*), Grep", f"{GIT} find-text"),
        ("WebFetch, WebFetch(domain:docs.example.org)", "web-fetch web-fetch(host=docs.example.org)"),
        ("WebSearch WebFetch", "web-search web-fetch"),
        ("Bash( git * )", GIT),
        ("Bash", "bash"),
        ("Bash(git add *)", "bash(command=git add) bash(command=git add *)"),
        ("Bash(*) LS", "bash list-directory"),
        ("Bash(npm run test)", "bash(command=npm run test)"),
        ("read write", "read-file write-file"),
        ("[Read, 'Bash(git:*)']", f"read-file {GIT}"),
        ("Read(src/**)", "read-file(path=src/**)"),
        ("Read(//etc/hosts)", "read-file(path=/etc/hosts)"),
        ("Glob(./a)", "find-files(path=a)"),
        ("mcp__github__createIssue mcp__jira mcp__x__*", "github-create-issue jira-* x-*"),
        ("Bash({baseDir}/a.sh:*)", "bash(command=/skills/pdf/a.sh) bash(command=/skills/pdf/a.sh *)"),
        ("read-file bash(command=ls*)", "read-file bash(command=ls*)"),
        ("bash(git:*)", GIT),
        ("'* #web($deny)'", "* #web($deny)"),
        ("Bash(echo a,b)", "bash(command=echo a\\,b)"),
    ],
)
def test_what_is_understood_binds_without_a_word(written: str, ours: str) -> None:
    loaded = load(folder_skill(written), "pdf/SKILL.md", "shared")
    assert (loaded.definitions[0].allowed_tools, loaded.problems) == (ours, ())
    AllowedList.of(ours)  # it can be read as ours


@pytest.mark.spec("R-PRJ-4")
@pytest.mark.parametrize(
    ("written", "ours", "columns"),
    [
        ("Read AskUserQuestion Task", "read-file", [21, 37]),
        ("Read, WebFetch(url:x)", "read-file", [22]),
        ("Bash(${CLAUDE_PLUGIN_ROOT}/x:*) Read", "read-file", [16]),
        ("'Read x('", "read-file", [22]),
        ("Read(", "", [16, 16]),
        ("TodoWrite", "", [16, 16]),
    ],
)
def test_what_is_not_understood_is_a_warning_at_its_place_and_the_skill_stays_ready(
    written: str, ours: str, columns: list[int]
) -> None:
    loaded = load(folder_skill(written), "pdf/SKILL.md", "shared")
    found = loaded.definitions[0]
    assert (found.state, found.allowed_tools) == ("ready", ours)
    assert [problem.severity for problem in loaded.problems] == ["warning"] * len(columns)
    assert [problem.column for problem in loaded.problems] == columns
    assert ("nothing is allowed" in loaded.problems[-1].message) == (not ours)


@pytest.mark.spec("R-PAT-14")
@pytest.mark.parametrize("written", ["'* Read(x,$deny'", "'* bash(a b,$deny)'", "7", "[Read, 7]"])
def test_a_denial_or_a_value_that_cannot_be_read_allows_nothing_and_says_so(written: str) -> None:
    loaded = load(folder_skill(written), "pdf/SKILL.md", "shared")
    assert (loaded.definitions[0].allowed_tools, loaded.definitions[0].state) == ("", "ready")
    assert "nothing is allowed" in loaded.problems[0].message


@pytest.mark.spec("R-PAT-14", "R-PRJ-4")
def test_files_in_our_own_format_may_use_their_names_and_are_read_as_strictly_as_before() -> None:
    assert skill(markdown("allowed-tools: Read Bash(git:*)\n")).allowed_tools == f"read-file {GIT}"
    assert skill(markdown("allowed-tools: read write\n")).allowed_tools == "read write"
    broken = load(markdown("allowed-tools: Read ok(\n"))
    assert (broken.definitions[0].state, broken.definitions[0].allowed_tools) == ("ready", "")
    assert broken.problems[0].severity == "warning"


@pytest.mark.spec("R-PAT-1")
def test_a_long_list_is_read_once_and_quickly() -> None:
    words = " ".join(f"Bash(p{number}:*)" for number in range(2_000))
    assert len(read_list(words, "/s").patterns) == 4_000

"""mcp.yaml: every mistake is named with its place, and costs its own entry only."""

from dataclasses import replace

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.servers.mcp_names import canonical
from desktop.presenter.mcp.example import EXAMPLE
from desktop.safety.confinement.environment import needs_admin
from desktop.tools.mcp.definitions import McpDefinition, McpFile, ToolRule, parse
from desktop.tools.mcp.offered import judged
from desktop.yaml_text.change import with_item
from tests.harness.help_pages import samples


def read(text: str) -> McpFile:
    return parse(text, needs_admin)


@pytest.mark.spec("R-TOOL-1", "S-RES-4")
def test_a_server_has_what_is_declared_and_admin_where_nothing_is() -> None:
    found = read(
        "servers:\n"
        "  - name: git_hub\n    enabled: true\n    command: npx\n    args: [-y, server]\n"
        "    env: {TOKEN: '${keyring:github/ida}'}\n"
        "    network: true\n    timeout: 5\n    tools:\n      list_issues: read\n"
        "      close: {category: write, timeout: 9, enabled: false}\n"
        "  - {name: web, url: 'https://example.org/mcp', bearer: '${keyring:web/ida}', category: write}\n"
    )
    assert found.problems == ()
    one, web = found.definitions
    assert one == McpDefinition(
        "git-hub",
        "npx",
        ("-y", "server"),
        {"TOKEN": "${keyring:github/ida}"},
        network=True,
        enabled=True,
        timeout_s=5.0,
        category=Category.ADMIN,
        tools={"list_issues": ToolRule(Category.READ), "close": ToolRule(Category.WRITE, 9.0, enabled=False)},
        line=2,
    )
    assert one.where == "npx -y server"
    assert one.rule("other") == ToolRule(None, None, enabled=True)
    assert web == McpDefinition(
        "web",
        url="https://example.org/mcp",
        bearer="${keyring:web/ida}",
        enabled=False,
        timeout_s=120.0,
        category=Category.WRITE,
        line=12,
    )


def test_another_program_address_or_folder_is_another_server_and_another_name_or_switch_is_not() -> None:
    one = McpDefinition("one", "npx", ("-y", "server"))
    same = (replace(one, name="two"), replace(one, enabled=True, timeout_s=5.0, category=Category.READ, line=9))
    assert {other.identity for other in same} == {one.identity}
    others = (
        replace(one, command="npm"),
        replace(one, args=("-y server",)),
        replace(one, args=("server", "-y")),
        replace(one, cwd="/srv"),
        McpDefinition("one", url="https://example.org/mcp"),
    )
    assert len({one.identity, *(other.identity for other in others)}) == 1 + len(others)


@pytest.mark.parametrize(
    ("entry", "field", "words"),
    [
        ("{name: a}", "command", "needs a command"),
        ("{command: x}", "name", "needs a name"),
        ("{name: A b, command: x}", "name", "a to z"),
        ("{name: a, command: ./x}", "command", "absolute"),
        ("{name: a, command: 'x; y'}", "command", "absolute"),
        ("{name: a, command: [x]}", "command", "text"),
        ("{name: a, command: x, args: y}", "args", "list"),
        ("{name: a, command: x, argz: [y]}", "argz", "mean args"),
        ("{name: a, command: x, url: 'https://y'}", "url", "not both"),
        ("{name: a, url: 'ftp://y'}", "url", "https://"),
        ("{name: a, url: 'https://u:p@y'}", "url", "bearer"),
        ("{name: a, url: 'http://y.example', bearer: '${keyring:a/b}'}", "url", "unprotected"),
        ("{name: a, url: 'https://y', bearer: sk-live-1234}", "bearer", "not written into a file"),
        ("{name: a, url: 'https://y', env: {A: b}}", "env", "only a server with a command"),
        ("{name: a, command: x, category: often}", "category", "read, write or admin"),
        ("{name: a, command: x, tools: {t: often}}", "tools.t", "read, write or admin"),
        ("{name: a, command: x, tools: {t: {colour: red}}}", "tools.t", "no key 'colour'"),
        ("{name: a, command: x, tools: {'a b': read}}", "tools.a b", "name of a tool"),
        ("{name: a, command: x, category: read, env: {LD_PRELOAD: y}}", "env.LD_PRELOAD", "admin"),
        ("{name: a, command: x, timeout: 0}", "timeout", "seconds"),
        ("{name: a, command: x, enabled: 5}", "enabled", "true or false"),
        ("{name: a, command: x, cwd: here}", "cwd", "absolute"),
        ("{name: a, command: x, roots: ~/notes}", "roots", "list"),
        ("{name: a, command: x, roots: [notes]}", "roots[0]", "absolute"),
        ("{name: a, url: 'https://x', roots: [/a]}", "roots", "command"),
        ("just words", "servers[1]", "names with values"),
        ("{name: good, command: x}", "name", "declared in line 2"),
    ],
)
@pytest.mark.spec("R-CLI-1", "R-ENV-7", "R-ENV-5")
def test_a_mistake_is_named_with_its_place_and_the_others_load(entry: str, field: str, words: str) -> None:
    found = read(f"servers:\n  - {{name: good, command: x}}\n  - {entry}\n")
    assert [one.name for one in found.definitions] == ["good"]
    assert any(field in one.message and words in one.message for one in found.problems), found.problems
    assert {one.line for one in found.problems} == {3}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("Host: x", "set by Assent"),
        ("content-LENGTH: '5'", "set by Assent"),
        ("Proxy-Authorization: x", "set by Assent"),
        ("Mcp-Session-Id: x", "belongs to the protocol"),
        ("MCP-Protocol-Version: x", "belongs to the protocol"),
        ("'X: Y': z", "no name of a header"),
        ("'X\\r\\nY': z", "no name of a header"),
        ('X-A: "one\\r\\nX-B: two"', "one line"),
        ('X-A: "caf\\u00e9"', "plain ASCII"),
        ("X-A: {}", "a text"),
        ("X-A: [b]", "a text"),
        ("X-A: '${keyring:only}'", "${keyring:service/user}"),
        ("{X-A: '1', x-a: '2'}", "there already"),
        ("Authorization: x", "makes the header Authorization"),
        ("just words", "Name: value"),
    ],
)
def test_a_header_that_cannot_be_sent_is_named_with_its_line(header: str, words: str) -> None:
    entry = "  - name: web\n    url: https://example.org/mcp\n    bearer: '${keyring:a/b}'\n    headers:\n"
    found = read(f"servers:\n{entry}      {header}\n")
    assert found.definitions == ()
    (error,) = (one for one in found.problems if one.severity == "error")
    assert (error.line in (5, 6), words in error.message) == (True, True), error


def test_headers_hold_what_is_declared_and_a_secret_in_the_open_is_doubted_or_refused() -> None:
    entry = "  - {name: web, url: '%s', headers: {X-Api-Key: '%s', X-Team: blue}}\n"
    good = read("servers:\n" + entry % ("https://example.org/mcp", "Token ${keyring:web/ida}"))
    assert good.problems == ()
    assert good.definitions[0].headers == {"X-Api-Key": "Token ${keyring:web/ida}", "X-Team": "blue"}
    plain = read("servers:\n" + entry % ("https://example.org/mcp", "abc"))
    assert [(one.severity, "keep it as ${keyring" in one.message) for one in plain.problems] == [("warning", True)]
    assert plain.definitions[0].launch != good.definitions[0].launch
    open_ = read("servers:\n" + entry % ("http://example.org/mcp", "${keyring:web/ida}"))
    assert "unprotected" in open_.problems[0].message
    assert read("servers:\n" + entry % ("http://127.0.0.1/mcp", "${keyring:web/ida}")).problems == ()
    program = read("servers:\n  - {name: a, command: x, headers: {A: b}}\n")
    assert "only a server with a url" in program.problems[0].message


@pytest.mark.parametrize("text", ["servers: [", "servers: 5", "tools: []", "- a", "servers:\n" + "  - {}\n" * 21])
@pytest.mark.spec("R-CLI-14")
def test_what_is_no_list_of_servers_is_broken_as_a_whole(text: str) -> None:
    assert read(text).broken


@pytest.mark.spec("R-CLI-1")
def test_the_example_holds_and_a_form_adds_a_server_without_touching_the_rest() -> None:
    assert read(EXAMPLE).problems == ()
    assert not read(EXAMPLE).definitions[0].enabled
    more = with_item(EXAMPLE, "servers", {"name": "more", "command": "x", "args": ["a: b", "#c"], "enabled": False})
    assert more.startswith(EXAMPLE.rstrip("\n"))
    found = read(more)
    assert (found.problems, [one.name for one in found.definitions]) == ((), ["files", "more"])
    assert found.definitions[1].args == ("a: b", "#c")
    for start in ("", "servers: []\n", "# mine\nservers:\n- name: a\n  command: x\n# end\n"):
        added = read(with_item(start, "servers", {"name": "more", "url": "https://y"}))
        assert (added.problems, added.definitions[-1].name) == ((), "more")


@pytest.mark.spec("R-CLI-1")
def test_the_servers_that_the_page_shows_are_declared_without_a_mistake() -> None:
    (block,) = samples("mcp", "yaml")
    found = read(block)
    assert found.problems == ()
    assert [(one.name, one.enabled) for one in found.definitions] == [("tickets", True), ("search", False)]
    assert canonical("tickets", "list_tickets") == "tickets-list-tickets"


@pytest.mark.spec("R-TOOL-8")
def test_names_become_canonical_and_a_cut_one_stays_its_own() -> None:
    assert canonical("git", "listIssues") == "git-list-issues"
    assert canonical("git", "__a..B/c__") == "git-a-b-c"
    long = {canonical("git", "x" * 100 + str(number)) for number in range(20)}
    assert len(long) == 20
    assert max(map(len, long)) <= 64
    (one,) = judged("s", ['{"name": "a", "inputSchema": {"type": "object"}}'], lambda _: "", lambda value: value)
    assert (one.name, one.problem) == ("s-a", "")

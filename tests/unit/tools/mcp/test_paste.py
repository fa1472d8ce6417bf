"""What pages of MCP servers show to be copied is understood where a server is added."""

import json
import time
from typing import Any

import pytest

from desktop.app.wiring.page_services import declared_servers
from desktop.presenter.mcp.paste import MAX_TEXT, PastedServer, read_pasted
from desktop.presenter.mcp.secrets import exposed, is_secret
from desktop.tools.mcp.definitions import parse
from tests.harness.timeouts import HELD_S

EVERYTHING = ("-y", "@modelcontextprotocol/server-everything")


def one(text: str) -> PastedServer:
    found = read_pasted(text)
    assert not found.problem
    (server,) = found.servers
    return server


@pytest.mark.parametrize(
    ("line", "command", "args"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "npx", EVERYTHING),
        ("$ npx -y \\\n  @modelcontextprotocol/server-everything", "npx", EVERYTHING),
        ("cmd /c npx -y @modelcontextprotocol/server-everything", "npx", EVERYTHING),
        ("claude mcp add every -- npx -y @modelcontextprotocol/server-everything", "npx", EVERYTHING),
        ("codex mcp add every npx -y @modelcontextprotocol/server-everything", "npx", EVERYTHING),
        ("npx server \"a folder/with blanks\" 'and $more'", "npx", ("server", "a folder/with blanks", "and $more")),
        (r'"C:\Program Files\npx.cmd" -y x C:\work', r"C:\Program Files\npx.cmd", ("-y", "x", r"C:\work")),
        ("uvx --from git+https://example.org/x x-server", "uvx", ("--from", "git+https://example.org/x", "x-server")),
    ],
)
def test_a_command_line_is_a_program_and_its_arguments(line: str, command: str, args: tuple[str, ...]) -> None:
    found = one(line)
    assert (found.command, found.args) == (command, args)


@pytest.mark.parametrize("line", ["FOO=bar BAZ='a b' npx x-mcp", "env FOO=bar BAZ='a b' npx x-mcp"])
def test_variables_in_front_are_variables(line: str) -> None:
    assert one(line).env == {"FOO": "bar", "BAZ": "a b"}


@pytest.mark.parametrize(
    "line", ["npx x | tee log", "cd work && npx x", "npx x > log", "npx x $(cat key)", "cd work; npx x"]
)
def test_what_only_a_shell_can_do_is_refused_with_the_reason(line: str) -> None:
    found = read_pasted(line)
    assert not found.servers
    assert "script" in found.problem


def test_a_quotation_mark_that_is_not_closed_is_named() -> None:
    found = read_pasted("npx 'x")
    assert not found.servers
    assert "quotation mark" in found.problem


@pytest.mark.parametrize("name", ["npx", "/opt/tickets/server", "~/bin/mcp", ""])
def test_a_plain_program_is_left_as_it_is(name: str) -> None:
    assert read_pasted(name) == read_pasted("")


BLOCKS = {
    "Claude": '{"mcpServers": {"every": %s}}',
    "VS Code": '{"mcp": {"inputs": [], "servers": {"every": %s}}}',
    "VS Code's own file": '{"servers": {"every": %s}}',
    "without the outer braces": '"mcpServers": {"every": %s},',
    "only the entry's line": '"every": %s',
    "a comment and a comma too many": '// settings\n{"mcpServers": {"every": %s,},}',
    "a fenced block": '```json\n{"mcpServers": {"every": %s}}\n```',
    "Zed": '{"context_servers": {"every": {"command": {"path": "npx", "args": ["-y", "x"]}}}}',
    "OpenCode": '{"mcp": {"every": {"type": "local", "command": ["npx", "-y", "x"]}}}',
    "Codex": '[mcp_servers.every]\ncommand = "npx"\nargs = ["-y", "x"]',
    "code --add-mcp": 'code --add-mcp \'{"name": "every", "command": "npx", "args": ["-y", "x"]}\'',
    "claude mcp add-json": "claude mcp add-json every '%s'",
    "Windows": '{"mcpServers": {"every": {"command": "cmd", "args": ["/c", "npx", "-y", "x"]}}}',
}


@pytest.mark.parametrize("app", BLOCKS)
def test_a_block_as_apps_have_it_is_read(app: str) -> None:
    found = one(BLOCKS[app].replace("%s", '{"command": "npx", "args": ["-y", "x"]}'))
    assert (found.name, found.command, found.args) == ("every", "npx", ("-y", "x"))


def test_several_servers_and_one_at_an_address_become_entries_that_the_file_takes() -> None:
    block = """{"mcpServers": {
        "GitHub MCP": {"command": "npx", "args": ["-y", "gh"], "env": {"GITHUB_TOKEN": "ghp_abcdefgh", "PAGE": 20}},
        "search": {"url": "https://search.example.org/mcp",
                   "headers": {"Authorization": "Bearer ${input:key}", "X-A": "1"}}
    }}"""
    found = read_pasted(block).servers
    rows: list[Any] = [one.entry() for one in found]
    read = parse(str({"servers": rows}).replace("False", "false"), lambda _: False)
    assert read.problems == ()
    program, address = read.definitions
    assert (program.name, program.env) == (
        "github-mcp",
        {"GITHUB_TOKEN": "${keyring:assent/github-mcp-github-token}", "PAGE": "20"},
    )
    assert (address.url, address.bearer) == ("https://search.example.org/mcp", "${keyring:assent/search-token}")
    assert not program.enabled
    assert "ghp_abcdefgh" not in repr(found), "a secret that was pasted is taken over nowhere"
    assert "assent/github-mcp-github-token" in " ".join(found[0].notes)


def test_what_a_person_has_to_fill_in_is_said() -> None:
    found = one("npx -y fs /path/to/dir ${workspaceFolder} --api-key YOUR_API_KEY")
    said = "\n".join(found.notes)
    assert all(part in said for part in ("/path/to/dir", "${workspaceFolder}", "YOUR_API_KEY", "--api-key", "network"))
    assert "confined" in " ".join(one("docker run -i --rm mcp/fetch").notes)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "everything"),
        ("npx @playwright/mcp@latest", "playwright"),
        ("uvx mcp-server-git --repository x", "git"),
        ("python -m mcp_server_time", "mcp-server-time"),
        ("node /opt/tickets/index.js", "tickets"),
        ("https://mcp.exa.ai/mcp", "exa"),
    ],
)
def test_a_server_gets_a_name_that_a_person_would_give_it(text: str, name: str) -> None:
    assert one(text).name == name


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {',
        '{"a": 1}',
        "[" * 5000,
        "{" * 70_000,
        "[mcp_servers.x\n[y]",
        "FOO=1 BAR=2",
        "a b\nc d",
        '{"x":{"command":1}}',
        'cmd /c "npx \'x"',
        "npx " + "a " * 20_000,
        '{"x":{"command":' + '{"path":' * 900 + "1" + "}" * 902,
    ],
)
def test_what_cannot_be_read_says_so(text: str) -> None:
    found = read_pasted(text)
    assert found.problem
    assert not found.servers


HOSTILE = {
    "line breaks in a fence": lambda n: "```" + "\n" * n + "x",
    "quotation marks behind backslashes": lambda n: "{" + '\\"' * (n // 2),
    "commas": lambda n: "{" + ", " * (n // 2) + "x",
    "comments": lambda n: "{" + "/*" * (n // 2) + "//" * 9,
    "line breaks": lambda n: "x" + "\n" * n + "x",
    "keys of TOML": lambda n: "[a]\n" + "a." * (n // 2) + "b = 1",
    "brackets": lambda n: "[" * n,
    "tokens in a variable": lambda n: json.dumps({"command": "x", "env": {"A": "-eyJ" * (n // 5)}}),
    "schemes in an argument": lambda n: json.dumps({"command": "x", "args": ["a." * (n // 3)] * 2}),
    "versions in a name": lambda n: json.dumps({"command": "npx", "args": ["@" * (n - 100) + "\nx"]}),
    "many names": lambda n: json.dumps({"command": "x", "args": ["a=" * 1_900] * (n // 4_000)}),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_is_pasted_never_holds_the_window_up(kind: str) -> None:
    began = time.thread_time()
    read_pasted(HOSTILE[kind](MAX_TEXT - 200))
    assert time.thread_time() - began < HELD_S


@pytest.mark.parametrize(
    "text", ["/opt/My Programs/server", "/Applications/My Tool.app/Contents/MacOS/server", r"C:\My Programs\server.exe"]
)
def test_a_path_with_a_blank_can_be_one_program(text: str) -> None:
    assert read_pasted(text).perhaps
    for line in (f"{text} --port 3", f"/bin/x {text}", "npx server", f'"{text}"'):
        assert not read_pasted(line).perhaps


SECRETS = {
    "a header": ["--header", "Authorization: Bearer S3CRET"],
    "without a blank": ["--header", "X-Api-Key:S3CRET"],
    "an option": ["--api-key", "S3CRET"],
    "an option with =": ["--api-key=S3CRET"],
    "docker": ["-e", "DB_PASS=S3CRET"],
    "a long docker": ["--env", "GITHUB_PAT=S3CRET"],
    "in one word": ["--env=API_TOKEN=S3CRET"],
    "a query": ["mcp-remote", "https://h/mcp?x=1&apiKey=S3CRET"],
    "userinfo": ["postgres://u:S3CRET@h/db"],
    "a key on the web": ["https://S3CRET@h/x"],
    "a DSN": ["host=h;Password=S3CRET;x=1"],
    "JSON": ["--headers", '{"Authorization": "Bearer S3CRET"}'],
    "escaped JSON": ['{\\"apiKey\\":\\"S3CRET\\"}'],
    "a session": ["--session-id", "S3CRET"],
    "glued names": ["-e", "PGPASS=S3CRET"],
    "Notion": ["ntn_" + "S3CRET" * 5],
    "Figma": ["figd_" + "S3CRET" * 5],
    "a cookie of Slack": ["xoxd-" + "S3CRET" * 5],
    "the form of a key": ["ghp_" + "S3CRET" * 5],
    "too long to be looked at": ["a " * 4_000 + "S3CRET"],
}
HARMLESS = (
    ["--max-tokens", "4096"],
    ["--auth=true"],
    ["-e", "API_KEY"],
    ["--api-key", "${KEY}"],
    ["--key", "/etc/x/key.pem"],
    ["--header", "Authorization: Bearer ${TOKEN}"],
    ["mcp/token-server", "ghcr.io/x/auth:1.2"],
    ["--no-auth", "x.py"],
    ["https://h/mcp?page=2"],
    ["--from", "git+ssh://git@h/x", "y"],
    ["@scope/keyboard@1.2"],
    ["postgres://localhost/db"],
    ["--api-key", "<your key>"],
    ["--session-name", "work"],
    ["--session-timeout", "30s"],
    ["--compass", "north"],
    ["--bypass", "x"],
    ["--session-dir", "./x"],
)


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_in_the_arguments_keeps_an_entry_out_of_the_file_and_is_said_without_it(kind: str) -> None:
    said = exposed({"name": "x", "command": "npx", "args": SECRETS[kind]})
    assert "in the arguments" in said
    assert "S3CRET" not in said
    (found,) = read_pasted(json.dumps({"x": {"command": "npx", "args": SECRETS[kind]}})).servers
    assert any("is a secret" in note for note in found.notes)
    assert "s3cret" not in one(json.dumps({"command": "npx", "args": SECRETS[kind]})).name


@pytest.mark.parametrize("args", HARMLESS)
def test_numbers_references_examples_and_paths_are_no_secrets(args: list[str]) -> None:
    assert exposed({"name": "x", "command": "npx", "args": args}) == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgres://u:S3CRET@h/db"),
        ("GITHUB_PAT", "S3CRET"),
        ("DB_PASS", "S3CRET"),
        ("CONFIG", '{"token": "S3CRET"}'),
        ("DSN", "https://S3CRET@h/1"),
        ("A", "Bearer S3CRET"),
    ],
)
def test_a_secret_in_a_variable_or_a_header_becomes_a_reference(name: str, value: str) -> None:
    program = one(json.dumps({"x": {"command": "npx", "env": {name: value, "MAX_TOKENS": 4096, "AUTH": True}}}))
    address = one(json.dumps({"x": {"url": "https://h/mcp", "headers": {name: value}}}))
    assert program.env[name].startswith("${keyring:assent/x-")
    assert (program.env["MAX_TOKENS"], program.env["AUTH"]) == ("4096", "true")
    assert "S3CRET" not in repr((program, address))
    assert exposed(program.entry()) == exposed(address.entry()) == ""
    assert is_secret(name, value)
    typed = exposed({"name": "x", "command": "npx", "env": {name: value}, "headers": {name: value}})
    assert f"The value of the variable {name}" in typed
    assert "S3CRET" not in typed


def test_a_secret_argument_is_called_by_its_name_or_line_and_names_no_server() -> None:
    found = one("docker run -i -e GITHUB_PAT=S3CRET ghcr.io/github/github-mcp-server")
    assert found.name == "github"
    assert found.notes[0].startswith("GITHUB_PAT in the arguments")
    args = ["x", "https://h/?key=S3CRET", "--user", "me:S3CRET", "-u", "1000:1000", "--api-key", "S3CRET=="]
    said = exposed({"args": args}).split("\n")
    assert [line.partition(" in the")[0] for line in said] == ["Line 2", "--user", "--api-key"]


def test_a_secret_in_an_address_is_not_added_and_names_no_server() -> None:
    for url in ("https://h.org/mcp?apiKey=S3CRET", "https://S3CRET@h.org/mcp", "https://u:S3CRET@h.org/mcp#a=1"):
        found = one(url)
        assert "s3cret" not in found.name
        assert "holds a secret" in exposed(found.entry())
        assert "S3CRET" not in "".join(found.notes)
    assert exposed({"name": "x", "url": "https://h.org/mcp", "bearer": "S3CRET"})
    assert not exposed({"name": "x", "url": "https://h.org/mcp", "headers": {"X-Key": "Token ${keyring:a/b}"}})


PACKAGES = {
    "npm": (
        {"registryType": "npm", "identifier": "@x/tides-mcp", "version": "1.2.0", "transport": {"type": "stdio"}},
        ["npx", "-y", "@x/tides-mcp@1.2.0"],
    ),
    "npm with its own runtime arguments": (
        {
            "registryType": "npm",
            "identifier": "tides",
            "runtimeHint": "npx",
            "runtimeArguments": [{"type": "positional", "value": "-y"}],
        },
        ["npx", "-y", "tides"],
    ),
    "pypi with a command": (
        {
            "registryType": "pypi",
            "identifier": "tides",
            "version": "0.3.5",
            "packageArguments": [{"type": "positional", "value": "mcp"}, {"type": "named", "name": "--port"}],
        },
        ["uvx", "tides@0.3.5", "mcp"],
    ),
    "older spelling, with a blank to fill in": (
        {
            "registry_type": "npm",
            "identifier": "files",
            "package_arguments": [{"type": "positional", "value_hint": "target_dir", "is_required": True}],
        },
        ["npx", "-y", "files", "<target_dir>"],
    ),
    "oci": (
        {
            "registryType": "oci",
            "identifier": "ghcr.io/x/tides",
            "version": "0.1.0",
            "environmentVariables": [{"name": "ZONE", "default": "utc"}],
        },
        ["docker", "run", "-i", "--rm", "-e", "ZONE", "ghcr.io/x/tides:0.1.0"],
    ),
    "oci with the whole line": (
        {
            "registryType": "oci",
            "identifier": "ghcr.io/x/tides:${VERSION}",
            "runtimeArguments": [
                {"type": "positional", "value": "run"},
                {"type": "named", "name": "--rm", "value": "true", "format": "boolean"},
                {"type": "named", "name": "-e", "value": "ZONE={zone}", "variables": {"zone": {"default": "utc"}}},
                {"type": "positional", "value": "ghcr.io/x/tides"},
            ],
        },
        ["docker", "run", "--rm", "-e", "ZONE=utc", "ghcr.io/x/tides"],
    ),
    "nuget": (
        {
            "registryType": "nuget",
            "identifier": "Tides.Mcp",
            "packageArguments": [{"type": "positional", "value": "go"}],
        },
        ["dnx", "Tides.Mcp", "--yes", "--", "go"],
    ),
}


@pytest.mark.spec("R-MCP-6")
@pytest.mark.parametrize("kind", PACKAGES)
def test_a_package_of_a_registry_entry_is_the_line_that_runs_it(kind: str) -> None:
    package, line = PACKAGES[kind]
    found = one(json.dumps({"name": "io.example/tides-mcp", "packages": [package]}))
    assert [found.name, found.command, *found.args] == ["tides", *line]


@pytest.mark.spec("R-MCP-6")
def test_a_registry_entry_with_several_ways_says_so_and_leaves_secrets_to_the_keyring() -> None:
    variables = [
        {"name": "TIDES_KEY", "isRequired": True, "isSecret": True},
        {"name": "HARBOUR_NOTE", "isRequired": True, "isSecret": True},
        {"name": "ZONE", "default": "utc"},
        {"name": "QUAY", "isRequired": True},
        {"name": "EXTRA"},
    ]
    entry = {
        "name": "com.harbour/mcp",
        "packages": [
            {"registryType": "npm", "identifier": "tides", "environmentVariables": variables},
            {"registryType": "mcpb", "identifier": "https://example.org/tides.mcpb"},
            {"registryType": "pypi", "identifier": "tides", "transport": {"type": "streamable-http"}},
        ],
        "remotes": [
            {
                "type": "sse",
                "url": "https://{region}.example.org/sse",
                "variables": {"region": {"default": "eu"}},
                "headers": [
                    {"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": True}}},
                    {"name": "X-Team", "default": "blue"},
                ],
            }
        ],
    }
    for text in (entry, {"server": entry, "_meta": {"x": {}}}):
        found = read_pasted(json.dumps(text))
        assert found.either
        program, address = found.servers
        assert program.name == "harbour"
        assert program.env == {
            "TIDES_KEY": "${keyring:assent/harbour-tides-key}",
            "HARBOUR_NOTE": "${keyring:assent/harbour-note}",
            "ZONE": "utc",
            "QUAY": "<QUAY>",
        }
        assert "It also takes EXTRA; it is not needed." in program.notes
        assert (address.url, address.bearer) == ("https://eu.example.org/sse", "${keyring:assent/harbour-token}")
        assert address.headers == {"X-Team": "blue"}
        assert [why.split(": ")[1][:20] for why in found.left] == ["a package of the kin", "its pypi package is "]
    page = read_pasted(json.dumps({"servers": [{"server": entry}, {"server": {**entry, "packages": []}}]}))
    assert not page.either
    assert len(page.servers) == 3


@pytest.mark.spec("R-MCP-6")
@pytest.mark.parametrize(
    ("block", "url", "bearer"),
    [
        (
            {"a": {"type": "sse", "baseUrl": "https://x.example.org/sse", "isActive": True, "name": "tides"}},
            "https://x.example.org/sse",
            "",
        ),
        (
            {
                "tides": {
                    "transport": {
                        "type": "http",
                        "url": "https://x.example.org/mcp",
                        "headers": {"Authorization": "Bearer ${input:t}"},
                    }
                }
            },
            "https://x.example.org/mcp",
            "${keyring:assent/tides-token}",
        ),
    ],
)
def test_an_address_is_found_where_another_app_keeps_it(block: dict[str, object], url: str, bearer: str) -> None:
    found = one(json.dumps({"mcpServers": block}))
    assert (found.name, found.url, found.bearer) == ("tides", url, bearer)


@pytest.mark.spec("R-MCP-6")
def test_what_is_left_out_of_a_block_is_named() -> None:
    block = {
        "tides": {"command": "./scripts/tides", "envFile": ".env"},
        "gone": {"link": "https://x.example.org"},
        "web": {"url": "https://x.example.org", "headersHelper": "node make.js"},
    }
    found = read_pasted(json.dumps({"mcpServers": block}))
    assert [server.name for server in found.servers] == ["tides", "web"]
    assert found.left == ("gone was left out: it has no command and no url.",)
    assert ["whole path" in note for note in found.servers[0].notes] == [True, False]
    assert "Its envFile, a file of variables, was left out." in found.servers[0].notes
    assert found.servers[1].notes == ("Its headersHelper, a program that makes its headers, was left out.",)
    many = {f"s{at}": {"command": "x"} for at in range(30)}
    assert read_pasted(json.dumps(many)).left == ("Only the first 20 of 30 servers are taken.",)


@pytest.mark.parametrize(
    "hostile",
    [
        {"packages": [None, 5, {"registryType": 7}, {"registryType": "npm", "identifier": ["x"]}], "remotes": "x"},
        {"name": 5, "packages": [{"registryType": "npm", "identifier": "x", "environmentVariables": [{"name": []}]}]},
        {"packages": [{"registryType": "npm", "identifier": "x", "packageArguments": [{"value": {"a": 1}}] * 500}]},
        {
            "remotes": [
                {"url": 5},
                {"url": "https://x/{y}", "variables": [1], "headers": [{"name": "A", "value": None}]},
            ]
        },
    ],
)
def test_a_registry_entry_that_lies_about_its_form_is_read_or_refused_and_never_fails(hostile: object) -> None:
    found = read_pasted(json.dumps(hostile))
    assert found.problem or all(len(server.args) < 150 for server in found.servers)


def test_what_a_text_wants_of_the_keyring_is_said_and_a_place_for_a_new_secret_is_no_such_wish() -> None:
    server = one('{"x": {"command": "npx", "env": {"A": "${keyring:assent/github-token}", "API_KEY": "<your key>"}}}')
    assert server.wants == ("assent/github-token",)
    assert any("names assent/github-token in your keyring" in note for note in server.notes)
    address = one('{"x": {"url": "https://h.org/mcp", "headers": {"Authorization": "Bearer ${keyring:bank/pin}"}}}')
    assert address.wants == ("bank/pin",)


def test_a_server_of_a_repository_gets_no_secret_by_naming_it() -> None:
    hidden = '{"mcpServers": {"x": {"command": "npx", "env": {"A": "\\u0024{keyring:assent/github-token}"}}}}'
    (found,) = declared_servers(hidden)
    assert "assent/github-token" in found.problem
    (found,) = declared_servers('{"mcpServers": {"x": {"command": "npx", "env": {"A": "${GITHUB_TOKEN}"}}}}')
    assert found.problem == ""


def test_a_server_of_a_repository_gets_no_variable_of_the_persons_by_naming_it() -> None:
    program = {"command": "npx", "env": {"AWS": "${AWS_SECRET_ACCESS_KEY}", "PAGE": "20", "W": "a ${HOME} b"}}
    web = {
        "url": "https://h.org/mcp",
        "headers": {"Authorization": "Bearer ${AWS_SESSION_TOKEN}", "X-Team": "${USER} and ${HOME}"},
    }
    found = declared_servers(json.dumps({"mcpServers": {"tides": program, "search": web}}))
    own, place = "${keyring:assent/tides-aws-secret-access-key-1}", found[0].wanted[0][1]
    mark = place.rpartition("-")[2]
    assert len(mark) == 10
    assert found[0].entry["env"] == {"AWS": own.replace("-1}", f"-{mark}}}"), "PAGE": "20", "W": "a ${HOME} b"}
    assert found[0].wanted == (("AWS_SECRET_ACCESS_KEY", f"assent/tides-aws-secret-access-key-{mark}"),)
    mark = found[1].wanted[0][1].rpartition("-")[2]
    assert found[1].entry["bearer"] == f"${{keyring:assent/search-aws-session-token-{mark}}}"
    team = f"${{keyring:assent/search-user-{mark}}} and ${{keyring:assent/search-home-{mark}}}"
    assert found[1].entry["headers"] == {"X-Team": team}
    assert all(one.problem == "" and one.entry["enabled"] is False for one in found)
    pasted = one(json.dumps({"mcpServers": {"tides": program}}))
    assert pasted.env["AWS"] == "${AWS_SECRET_ACCESS_KEY}", "what a person pastes and reads is theirs to decide"


def test_the_entry_of_a_repositorys_server_is_no_one_that_was_saved_for_another_server_of_that_name() -> None:
    def place(**entry: object) -> str:
        (found,) = declared_servers(
            json.dumps({"mcpServers": {"tickets": {"env": {"T": "${TICKETS_TOKEN}"}, **entry}}})
        )
        return found.wanted[0][1]

    pasted = json.dumps({"mcpServers": {"tickets": {"command": "npx", "env": {"TICKETS_TOKEN": "ghp_" + "a1" * 18}}}})
    ours = str(one(pasted).secrets[0].entry)
    assert ours == "assent/tickets-token"
    others = {place(command="npx", args=["-y", "a"]), place(command="npx", args=["-y", "b"]), place(command="sh")}
    assert len(others) == 3
    assert ours not in others
    assert place(command="sh") in others, "the same program has its entry again"

"""tools.yaml as it is read: every rule at load, with line, column and field."""

import random

import pytest

from desktop.domain.approval.judgement import Category
from desktop.safety.confinement.environment import needs_admin
from desktop.tools.cli.definitions import CliDefinition, CliFile, CliRules, parse
from desktop.tools.cli.template import canonical, template
from desktop.tools.cli.values import is_loose, pattern_problem
from desktop.yaml_text.tree import MAX_BYTES

RULES = CliRules(needs_admin, lambda name: "the shell" if name == "bash" else "")
SOURCE_EXAMPLE = """\
# ~/.agent/tools.yaml
tools:
  - name: kubectl_get
    description: "Get Kubernetes resources"
    category: read
    cmd: kubectl
    args: ["get", "{{resource}}"]
    optional_args:
      namespace: ["-n", "{{namespace}}"]
    parameters:
      resource:
        type: string
        enum: [pods, services, deployments, configmaps, secrets, nodes, namespaces]
        description: "The resource type"
      namespace:
        type: string
        description: "The Kubernetes namespace"
        pattern: "^[a-z0-9-]+$"
        optional: true

  - name: kubectl_apply
    description: "Apply a Kubernetes manifest"
    category: write
    cmd: kubectl
    args: ["apply", "-f", "{{file}}"]
    parameters:
      file:
        type: string
        description: "Path to the manifest file"
        pattern: "^[a-zA-Z0-9_./-]+$"
"""
HEAD = """\
tools:
  - name: probe
    description: A probe.
    category: read
    cmd: printf
"""


def read(text: str) -> CliFile:
    return parse(text, RULES)


def one(body: str = "", head: str = HEAD) -> CliDefinition:
    """The only tool of a file that has to be good."""
    found = read(head + body)
    assert [str(problem) for problem in found.problems] == []
    return found.definitions[0]


def errors(body: str, head: str = HEAD) -> list[str]:
    """``line:column message`` of each error; the tool is skipped."""
    found = read(head + body)
    assert not found.broken
    assert not found.definitions
    return [f"{p.line}:{p.column} {p.message}" for p in found.problems if p.severity == "error"]


def warnings(body: str, head: str = HEAD) -> list[str]:
    """Messages of a tool that is used nevertheless."""
    found = read(head + body)
    assert len(found.definitions) == 1
    return [problem.message for problem in found.problems]


@pytest.mark.spec("R-CLI-1", "R-CLI-4", "C-30")
def test_the_example_of_the_source_is_read_as_it_stands() -> None:
    found = read(SOURCE_EXAMPLE)
    assert found.problems == ()
    get, apply = found.definitions
    assert (get.name, get.category, get.cmd) == ("kubectl-get", Category.READ, "kubectl")
    assert (apply.name, apply.category) == ("kubectl-apply", Category.WRITE)
    assert get.params["required"] == ["resource"]
    assert get.params["properties"]["namespace"]["pattern"] == "^[a-z0-9-]+$"
    assert get.params["additionalProperties"] is False
    assert [name for name, _ in get.optional_args] == ["namespace"]


@pytest.mark.spec("R-CLI-1")
def test_an_invalid_entry_is_named_with_line_and_field_and_the_others_load() -> None:
    found = read("""\
tools:
  - name: good
    description: One.
    category: read
    cmd: date
  - name: bad
    description: Two.
    category: sometimes
    cmd: date
  - just a word
  - name: also_good
    description: Three.
    category: admin
    cmd: date
""")
    assert [d.name for d in found.definitions] == ["good", "also-good"]
    assert [(p.line, p.column, p.severity) for p in found.problems] == [(8, 15, "error"), (10, 5, "error")]
    assert "bad (tools[1]).category" in found.problems[0].message
    assert "tools[2]" in found.problems[1].message


@pytest.mark.spec("R-CLI-14")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("just words", (1, 1)),
        ("- a\n- b", (1, 1)),
        ("tools: 5", (1, 8)),
        ("tools: {a: b}", (1, 8)),
        ("tools:\n  - name: 'x", (2, 11)),
        ("tools:\n\t- name: x", (2, 1)),
        ("tools: []\n---\ntools: []", (2, 1)),
        ("tools: []\ntools: []", (2, 1)),
        ("other: 1", (1, 1)),
        ("tools: *x", (1, 8)),
        ("tools: !!python/tuple [1]", (1, 8)),
        ("tools: \x01", (1, 8)),
        ("\ud800", (1, 1)),
    ],
)
def test_what_is_no_list_of_tools_is_broken_with_its_place(text: str, place: tuple[int, int]) -> None:
    found = read(text)
    assert found.broken
    assert found.definitions == ()
    assert (found.problems[0].line, found.problems[0].column) == place


@pytest.mark.spec("R-CLI-1")
@pytest.mark.parametrize("text", ["", "# nothing yet\n", "tools:", "tools: []", "---\n"])
def test_an_empty_file_declares_nothing_and_is_not_broken(text: str) -> None:
    assert read(text) == CliFile()


@pytest.mark.spec("R-CLI-14")
def test_bombs_of_aliases_depth_number_and_size_are_refused() -> None:
    bomb = "tools:\n  - &a [x, x]\n" + "".join(f"  - &b{n} [*a, *a, *a]\n" for n in range(50))
    assert read(bomb).definitions == ()
    assert any("aliases are not supported" in problem.message for problem in read(bomb).problems)
    assert "nested more than" in read("tools: " + "[" * 500).problems[0].message
    assert "larger than" in read("tools: []\n" + "#" * MAX_BYTES).problems[0].message
    assert "more than 200 tools" in read("tools:\n" + "  - a\n" * 201).problems[0].message
    assert "more than 20000 values" in read("tools: [" + "a," * 20_001 + "]").problems[0].message


@pytest.mark.spec("R-CLI-1")
def test_a_double_key_an_alias_and_a_tag_cost_their_own_tool_only() -> None:
    found = read("""\
tools:
  - name: a
    description: &words One.
    category: read
    cmd: date
    cmd: rm
  - name: b
    description: *words
    category: read
    cmd: date
  - name: c
    description: Three.
    category: read
    cmd: !!python/object:os.system date
  - {name: d, description: Four., category: read, cmd: date}
""")
    assert [d.name for d in found.definitions] == ["d"]
    assert [(p.line, p.column) for p in found.problems] == [(6, 5), (8, 18), (14, 10)]


@pytest.mark.spec("R-TOOL-1", "R-CLI-1")
@pytest.mark.parametrize("category", ["", "    category:\n", "    category: READ\n", "    category: [read]\n"])
def test_a_tool_without_one_of_the_three_categories_does_not_load(category: str) -> None:
    assert any("category" in e for e in errors(category, "tools:\n  - name: x\n    description: d\n    cmd: date\n"))


@pytest.mark.spec("R-TOOL-8")
@pytest.mark.parametrize(
    "name", ["Kubectl", "a__b", "-a", "a-", "a b", "a/b", "ä", "a" * 65, "''", "5.5", "a\\n", "../x", "{{x}}"]
)
def test_names_that_are_no_bare_names_are_refused(name: str) -> None:
    entry = f'tools:\n  - name: "{name}"\n    description: d\n    category: read\n    cmd: date\n'
    rule = "a name is 1 to 64 of a to z, 0 to 9 and single underscores or hyphens between them."
    assert errors("", entry) == [f"2:11 tools[0].name: {rule}"]


@pytest.mark.spec("R-TOOL-8")
def test_names_are_unique_in_the_file_and_among_all_tools() -> None:
    entry = "  - {{name: {}, description: d, category: read, cmd: date}}\n"
    found = read("tools:\n" + entry.format("a_b") + entry.format("a-b") + entry.format("bash"))
    assert [d.name for d in found.definitions] == ["a-b"]
    assert [p.line for p in found.problems] == [3, 4]
    assert "line 2" in found.problems[0].message
    assert "the shell" in found.problems[1].message


@pytest.mark.spec("R-CLI-10")
@pytest.mark.parametrize(
    "cmd",
    [
        "./run.sh",
        "bin/run",
        "../x",
        "run me",
        "ls;id",
        "ls|id",
        "$(id)",
        "`id`",
        "a&b",
        "a>b",
        "~/bin/x",
        "-x",
        "{{x}}",
        "/usr/bin/{{x}}",
        "/bin/../bin/sh",
        "/bin/a;b",
        "/bin/*",
        "",
        "a\\nb",
        "/bin/a\\nb",
        "\\0",
    ],
)
def test_a_program_is_a_bare_name_or_an_absolute_path_and_nothing_else(cmd: str) -> None:
    head = f'tools:\n  - name: x\n    description: d\n    category: admin\n    cmd: "{cmd}"\n'
    assert any(".cmd:" in e for e in errors("", head))


@pytest.mark.spec("R-CLI-10")
@pytest.mark.parametrize("cmd", ["kubectl", "g++", "python3.11", "/usr/bin/env", "/opt/My Programs/run", "7z", "_x"])
def test_programs_that_may_be_named(cmd: str) -> None:
    assert one("", f"tools:\n  - name: x\n    description: d\n    category: read\n    cmd: {cmd}\n").cmd == cmd


@pytest.mark.spec("R-CLI-7", "R-CLI-3")
@pytest.mark.parametrize(
    ("body", "place"),
    [
        ('    args: ["{{nobody}}"]\n', "6:12"),
        ('    args: ["a", "x{{a}}{{nobody}}"]\n    parameters: {a: {type: string}}\n', "6:17"),
        ('    args: ["{{a}}"]\n    parameters: {a: {type: string, optional: true}}\n', "6:12"),
        ('    args: ["{{a b}}"]\n    parameters: {a: {type: string}}\n', "6:12"),
        ('    args: ["{{"]\n', "6:12"),
        ('    args: ["{{}}"]\n', "6:12"),
        ('    args: ["{{.Names}}"]\n', "6:12"),
        ('    args: ["{{a}}{{"]\n    parameters: {a: {type: string}}\n', "6:12"),
        ('    optional_args: {a: ["{{a}}"]}\n', "6:21"),
        (
            '    optional_args: {a: ["{{b}}"]}\n    parameters: {a: {type: string, optional: true},'
            " b: {type: string, optional: true}}\n",
            "6:25",
        ),
    ],
)
def test_a_placeholder_without_a_declared_parameter_that_has_a_value_is_a_load_error(body: str, place: str) -> None:
    assert errors(body)[0].startswith(f"{place} ")


@pytest.mark.spec("R-CLI-7")
def test_a_default_makes_a_parameter_available_everywhere() -> None:
    found = one('    args: ["{{a}}"]\n    parameters: {a: {type: integer, default: 5, optional: true}}\n')
    assert found.params["required"] == []
    assert found.params["properties"]["a"]["default"] == 5


@pytest.mark.spec("R-CLI-3")
def test_braces_that_are_meant_as_text_are_written_with_a_backslash() -> None:
    assert template(r"\{{.Names}} {{x}}").filled({"x": "1"}) == "{{.Names}} 1"
    assert template("{{ x }}").names == ("x",)
    assert template("").filled({}) == ""
    assert template("}} {").filled({}) == "}} {"
    assert template("{{a}}").filled({"a": "{{b}}", "b": "no"}) == "{{b}}"


@pytest.mark.spec("R-CLI-1")
@pytest.mark.parametrize(
    "body",
    [
        "    patern: x\n",
        "    args: date\n",
        "    args: [[a]]\n",
        "    args: [a, ]\n    arg: x\n",
        "    args: [~]\n",
        "    args: {a: b}\n",
        "    optional_args: [a]\n",
        "    parameters: [a]\n",
        "    parameters: {a: string}\n",
        "    parameters: {a: {}}\n",
        "    parameters: {a: {type: array}}\n",
        "    parameters: {'a b': {type: string}}\n",
        "    parameters: {a: {type: string, patern: x}}\n",
        "    parameters: {a: {type: integer, pattern: x}}\n",
        "    parameters: {a: {type: boolean, minimum: 1}}\n",
        "    parameters: {a: {type: string, optional: maybe}}\n",
        "    timeout: 0\n",
        "    timeout: soon\n",
        "    timeout: 1e9\n",
        "    timeout: .inf\n",
        "    timeout: '5'\n",
        "    cwd: '{{a}}'\n",
        "    cwd: [a]\n",
        "    network: perhaps\n",
        "    description: []\n",
        "    env: [A]\n",
    ],
)
def test_keys_that_are_unknown_or_of_another_kind_keep_the_tool_out(body: str) -> None:
    head = HEAD.replace("    description: A probe.\n", "") if "description" in body else HEAD
    assert errors(body, head)


@pytest.mark.spec("R-CLI-5", "S-CLI-1")
def test_every_type_with_all_its_rules_becomes_json_schema() -> None:
    found = one("""\
    args: ["{{s}}", "{{i}}", "{{n}}", "{{b}}", "{{e}}", "{{w}}"]
    parameters:
      s: {type: string, minLength: 2, maxLength: 5, pattern: "^a+$", description: As., allow_leading_dash: yes}
      i: {type: integer, minimum: 1, maximum: 10, enum: [1, 2]}
      n: {type: number, minimum: -0.5, default: 1.5}
      b: {type: boolean, optional: true, default: no}
      e: {type: enum, enum: [on, off, "yes", 5, 2024-01-01]}
      w: {type: string}
""")
    assert found.params["properties"] == {
        "s": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^a+$", "description": "As."},
        "i": {"type": "integer", "minimum": 1, "maximum": 10, "enum": [1, 2]},
        "n": {"type": "number", "minimum": -0.5, "default": 1.5},
        "b": {"type": "boolean", "default": False},
        "e": {"type": "string", "enum": ["on", "off", "yes", "5", "2024-01-01"]},
        "w": {"type": "string", "maxLength": 10_000},
    }
    assert found.params["required"] == ["s", "i", "e", "w"]
    assert found.parameters[0].leading_dash


@pytest.mark.spec("R-CLI-5", "R-CLI-8")
@pytest.mark.parametrize(
    "part",
    [
        "type: integer, enum: [a]",
        "type: string, enum: []",
        "type: enum",
        "type: string, enum: [a, a]",
        "type: integer, minimum: 5, maximum: 3",
        "type: integer, minimum: 1.5",
        "type: number, maximum: x",
        "type: string, minLength: 5, maxLength: 3",
        "type: string, maxLength: -1",
        "type: string, maxLength: 1000001",
        "type: string, default: -x",
        "type: string, enum: [a], default: b",
        "type: integer, default: a",
        "type: integer, maximum: 3, default: 5",
        "type: boolean, default: 1",
        'type: string, default: "a\\0b"',
        'type: string, pattern: "^a$", default: b',
        'type: string, enum: ["a\\0"]',
        "type: string, description: [x]",
    ],
)
def test_contradictions_in_a_parameter_are_load_errors(part: str) -> None:
    assert any("parameters.a" in e for e in errors(f'    args: ["{{{{a}}}}"]\n    parameters: {{a: {{{part}}}}}\n'))


@pytest.mark.spec("R-CLI-6")
@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a**", "(?i)a", "(?m)^a$", "(?im:a)", "(?P<n>a)", "(?>a)", r"a\Z", r"\Aa", r"a\z"]
)
def test_patterns_that_javascript_does_not_have_are_refused(pattern: str) -> None:
    assert pattern_problem(pattern)


@pytest.mark.spec("R-CLI-6")
def test_patterns_that_fit_more_than_they_seem_to_are_pointed_at() -> None:
    assert [p for p in ("a", "^a", "a$", "^a|b$", r"^a\$", "^(a|b)$x") if is_loose(p)] == [
        "a",
        "^a",
        "a$",
        "^a|b$",
        r"^a\$",
        "^(a|b)$x",
    ]
    assert [p for p in ("^a$", "^(a|b)$", r"^[$|^]+$", r"^a\|b$", r"^\d+$") if is_loose(p)] == []
    assert not pattern_problem(r"^(?:a|b)(?=c)c[A-Z]\\Z$")
    loose = '    args: ["{{a}}"]\n    parameters: {a: {type: string, pattern: "[a-z]+"}}\n'
    assert "only contains this" in warnings(loose)[0]


@pytest.mark.spec("R-ENV-2", "R-ENV-7", "R-ENV-3", "R-ENV-5")
def test_variables_that_change_programs_need_an_admin_tool() -> None:
    dangerous = ("LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "NODE_OPTIONS", "BASH_ENV", "ENV", "IFS", "PATH")
    for name in dangerous:
        assert any(f"env.{name}" in e for e in errors(f"    env: {{{name}: x}}\n"))
        admin = HEAD.replace("category: read", "category: admin")
        assert one(f"    env: {{{name}: x}}\n", admin).env == {name: "x"}
    assert one("    env: {A: 1, B: '${HOME}', C: '${keyring:svc/me}', D: on}\n").env == {
        "A": "1",
        "B": "${HOME}",
        "C": "${keyring:svc/me}",
        "D": "on",
    }


@pytest.mark.spec("R-ENV-3", "R-ENV-5")
@pytest.mark.parametrize("value", ['"${keyring:x}"', '"${keyring:a/b} "', '"${keyring:/}"', "[a]", '"a\\0b"'])
def test_values_that_can_only_be_a_mistake_are_load_errors(value: str) -> None:
    assert any("env.TOKEN" in e for e in errors(f"    env: {{TOKEN: {value}}}\n"))


@pytest.mark.spec("R-ENV-3")
def test_doubtful_values_of_variables_are_warnings() -> None:
    assert "nothing but ${NAME}" in warnings("    env: {A: 'x${HOME}'}\n")[0]
    assert "looks like a secret" in warnings("    env: {API_TOKEN: abc}\n")[0]
    assert warnings("    env: {API_TOKEN: '${keyring:svc/me}'}\n") == []


@pytest.mark.spec("R-CLI-1")
def test_what_works_but_may_not_be_meant_is_a_warning() -> None:
    assert "no argument uses" in warnings("    parameters: {a: {type: string}}\n")[0]
    assert "description" in warnings("", HEAD.replace("    description: A probe.\n", ""))[0]
    text = '    args: ["{{a}}"]\n    network: true\n    parameters: {a: {type: string}}\n'
    assert "asks nobody" in warnings(text)[0]
    assert warnings(text.replace("type: string", 'type: string, pattern: "^a$"')) == []
    found = read(HEAD + "colour: blue\n")
    assert "nothing reads this key" in found.problems[0].message
    assert found.problems[0].line == 6


@pytest.mark.spec("R-CLI-12")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (-5, "-5"),
        (0.5, "0.5"),
        (1e-7, "1e-7"),
        (1.5e300, "1.5e+300"),
        (-0.0, "0"),
        (True, "true"),
        (False, "false"),
        (2**53 + 1, "9007199254740993"),
        ("3.0", "3.0"),
        ("", ""),
        (1e21, "1e+21"),
    ],
)
def test_numbers_and_flags_have_one_spelling(value: str | float, text: str) -> None:
    assert canonical(value) == text


@pytest.mark.spec("R-CLI-1", "R-CLI-14")
def test_no_damage_to_a_file_makes_reading_fail_or_a_broken_one_declare_tools() -> None:
    chance = random.Random(27)
    pieces = [
        *"{}[]:,-&*!|>'\"%@`#\n \t\\~?",
        "{{a}}",
        "null",
        "- ",
        "\0",
        "\ud800",
        "\x85",
        "\u2028",
        "&a",
        "*a",
        "<<: ",
    ]
    for _ in range(800):
        text = SOURCE_EXAMPLE
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(pieces) + text[at + chance.randint(0, 12) :]
        found = read(text)
        assert not (found.broken and found.definitions)
        assert all(problem.line >= 1 and problem.column >= 1 for problem in found.problems)

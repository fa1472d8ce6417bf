"""When a declared tool is a shell by another name (R-TOOL-4)."""

import json

import pytest

from desktop.tools.cli.category import always_admin
from desktop.tools.cli.definitions import CliRules, parse


def raised(cmd: str, *args: str, **parameters: dict[str, object]) -> str:
    entry = {
        "name": "x",
        "description": "d",
        "category": "read",
        "cmd": cmd,
        "args": list(args),
        "parameters": parameters or {"v": {"type": "string"}, "n": {"type": "integer"}},
    }
    found = parse("tools:\n  - " + json.dumps(entry), CliRules(lambda _: False))
    assert found.definitions, found.problems
    return always_admin(found.definitions[0])


@pytest.mark.spec("R-TOOL-4", "R-BLK-4")
@pytest.mark.parametrize(
    "words",
    [
        "bash -c {{v}}",
        "sh -c echo_{{v}}",
        "/bin/bash {{v}}",
        "bash -- {{v}}",
        "bash -o pipefail {{v}}",
        "bash -lc {{v}}",
        "python3.11 -c {{v}}",
        "python3 {{v}}",
        "python3 -W ignore {{v}}",
        "python3 -m {{v}}",
        "node --eval={{v}}",
        "node -r ./hook.js {{v}}",
        "perl -pe {{v}} note.txt",
        "awk {{v}} note.txt",
        "sed -i {{v}} note.txt",
        "env {{v}}",
        "env -i A=1 {{v}} x",
        "env -u FOO bash -c {{v}}",
        "nice -n 5 {{v}}",
        "timeout 5 sh -c {{v}}",
        "timeout 5 {{v}}",
        "xargs {{v}}",
        "ssh host {{v}}",
        "ssh -i key host ls {{v}}",
        "npx {{v}}",
        "watch {{v}}",
        "docker exec box sh -c {{v}}",
        "kubectl exec box -- bash -c {{v}}",
        "find . -exec sh -c {{v}} ;",
        "sudo ls",
        "doas ls",
        "env doas ls",
        "nohup pkexec x {{v}}",
        "busybox sh -c {{v}}",
        "strace -f python3 {{v}}",
    ],
)
def test_a_free_text_that_becomes_a_program_or_other_rights_are_always_admin(words: str) -> None:
    cmd, *args = words.split(" ")
    assert raised(cmd, *args)


@pytest.mark.spec("R-TOOL-4")
@pytest.mark.parametrize(
    "words",
    [
        "kubectl get {{v}}",
        "bash -c fixed name {{v}}",
        "bash script.sh {{v}}",
        "python3 report.py {{v}}",
        "grep {{v}} f",
        "python3 -m http.server {{v}}",
        "timeout 5 grep {{v}}",
        "env A=1 grep {{v}}",
        "awk program {{v}}",
        "sh -c {{n}}",
        "python3 -W ignore tool.py {{v}}",
        "git log {{v}}",
        "docker run image {{v}}",
    ],
)
def test_a_text_that_is_only_data_of_a_fixed_program_is_not(words: str) -> None:
    cmd, *args = words.split(" ")
    assert raised(cmd, *args) == ""


@pytest.mark.spec("R-TOOL-4")
def test_a_choice_from_a_list_is_the_persons_own_text() -> None:
    assert raised("bash", "-c", "{{v}}", v={"type": "string", "enum": ["ls", "date"]}) == ""
    assert "{{v}}" in raised("bash", "-c", "{{v}}", v={"type": "string", "pattern": "^[a-z]+$"})

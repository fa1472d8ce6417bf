""".github/workflows: what they run is here, what they use from outside is pinned, and only a tag publishes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dev
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SECRETS = {
    "MACOS_CERTIFICATE",
    "MACOS_CERTIFICATE_PASSWORD",
    "MACOS_NOTARY_ISSUER",
    "MACOS_NOTARY_KEY",
    "MACOS_NOTARY_KEY_ID",
}
WRITES = {"publish.yml release": "release", "publish.yml index": "index"}
"""Jobs that may write or sign, and the environment in which a person lets them go on."""
every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


def _read(file: Path) -> dict[str, Any]:
    plain = yaml.safe_load(file.read_text("utf-8"))
    assert isinstance(plain, dict)
    return plain


def _steps(file: Path) -> Iterator[dict[str, Any]]:
    for job in _read(file)["jobs"].values():
        yield from job.get("steps", [])


def test_there_is_one_for_testing_for_packages_and_for_publishing() -> None:
    assert [file.name for file in FILES] == ["package.yml", "publish.yml", "test.yml"]


@pytest.mark.spec("R-PKG-3")
def test_the_suite_runs_on_three_systems_and_every_python() -> None:
    matrix = _read(ROOT / ".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["system"]} == {"ubuntu", "windows", "macos"}
    assert {*matrix["python"], *(one["python"] for one in matrix["include"])} == {"3.11", "3.12", "3.13", "3.14"}


@every_file
def test_what_is_used_from_outside_is_one_commit_of_it(file: Path) -> None:
    used = re.findall(r"^\s*(?:- )?uses: (\S+)(?:  # (v[\d.]+))?$", file.read_text("utf-8"), re.MULTILINE)
    assert used
    for name, version in used:
        if name.startswith("./"):
            assert (ROOT / name).is_file(), name
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name), name
            assert version, f"{name} does not say which version that is"


@every_file
def test_each_file_and_command_that_it_names_is_here(file: Path) -> None:
    (commands,) = [one.choices for one in dev._parser()._actions if isinstance(one, argparse._SubParsersAction)]
    for step in _steps(file):
        text = str(step.get("run", ""))
        for named in re.findall(r"packaging/[\w./-]+", text):
            assert (ROOT / named).is_file(), named
        for words in re.findall(r"dev\.py (?:--yes )?([\w-]+)", text):
            assert words in commands, words


@every_file
def test_it_knows_secrets_by_name_and_may_write_nothing_but_where_a_person_lets_it(file: Path) -> None:
    text, plain = file.read_text("utf-8"), _read(file)
    assert set(re.findall(r"secrets\.(\w+)", text)) <= SECRETS
    assert "inherit" not in text
    assert plain["permissions"] == {"contents": "read"}
    for name, job in plain["jobs"].items():
        if "write" in job.get("permissions", {}).values():
            assert WRITES[f"{file.name} {name}"] == job["environment"]
        else:
            assert "environment" not in job


def test_only_a_tag_or_a_person_publishes_and_only_a_tag_that_is_the_version() -> None:
    plain = _read(ROOT / ".github/workflows/publish.yml")
    assert plain["on"] == {"push": {"tags": ["v*"]}, "workflow_dispatch": None}
    jobs = plain["jobs"]
    assert jobs["version"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert jobs["test"]["needs"] == jobs["package"]["needs"] == "version"
    assert jobs["release"]["needs"] == ["test", "package"]
    assert jobs["index"]["needs"] == "release"
    assert "if" not in jobs["release"], "a condition could let it run although what it needs did not"


@every_file
def test_no_text_of_others_stands_in_what_a_shell_runs(file: Path) -> None:
    """An expression is put into the script before the shell reads it: a branch's name could be a command."""
    for step in _steps(file):
        assert "${{" not in str(step.get("run", "")), step

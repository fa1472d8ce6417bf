"""A repository over ssh: a program in the place of ssh says what it was given, and starts the real other end of git."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.services.skills.repositories.git import GitSurroundings
from desktop.services.skills.repositories.ssh import SshAddress
from desktop.skills.repositories.address import read_address
from tests.unit.services.skills.repositories.kit import Place, Repository, item, skill

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="repositories are not read there")

TALKS = 'printf "%s\\n" "$@" >{told}; env >>{told}; for last; do :; done; exec sh -c "$last"\n'
REFUSES = 'echo "Host key verification failed." >&2; exit 255\n'


def place_with_ssh(tmp_path: Path, does: str) -> tuple[Place, Path]:
    """A home on a computer whose ssh is this."""
    told, program = tmp_path / "told", tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{does.format(told=told)}")
    program.chmod(0o755)
    variables = {
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "person"),
        "SSH_AUTH_SOCK": str(tmp_path / "agent"),
        "A_TOKEN": "secret",
    }
    return Place(tmp_path, around=GitSurroundings(shutil.which("git"), variables)), told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("git@git.harbour.example:ida/skills.git", SshAddress("git@git.harbour.example", 22, "ida/skills.git")),
        ("git.harbour.example:skills", SshAddress("git.harbour.example", 22, "skills")),
        ("ssh://git@git.harbour.example/ida/a%20b", SshAddress("git@git.harbour.example", 22, "/ida/a b")),
        ("ssh://git.harbour.example:2222/~ida/x", SshAddress("git.harbour.example", 2222, "~ida/x")),
    ],
)
def test_an_address_says_whom_to_ask_and_for_what(text: str, wanted: SshAddress) -> None:
    assert SshAddress.of(read_address(text)) == wanted


async def test_it_is_added_over_ssh_and_looked_at_again(tmp_path: Path) -> None:
    made = Repository(tmp_path / "it's here" / "skills")
    made.commit({"tide/SKILL.md": skill("tide")})
    place, told = place_with_ssh(tmp_path, TALKS)
    view = await place.add(f"ssh://git@git.harbour.example:2222{made.path}".replace("it's here", "it's%20here"))
    assert [one.name for one in view.items] == ["tide"]
    lines = told.read_text().splitlines()
    for wanted in ("-oBatchMode=yes", "-oStrictHostKeyChecking=yes", "-oForwardAgent=no", "-p2222", "--"):
        assert wanted in lines
    assert lines[lines.index("--") + 1] == "git@git.harbour.example"
    assert f"SSH_AUTH_SOCK={tmp_path / 'agent'}" in lines
    assert "A_TOKEN=secret" not in lines
    made.commit({"tide/SKILL.md": skill("tide", "Second.")})
    await place.take(view, "tide")
    assert item(await place.look("skills"), "tide").status == "text"
    assert {path.name for path in place.shelf.data("skills").iterdir()} == {"before", "configuration", "git", "newest"}
    await place.close()


async def test_what_ssh_says_is_said_and_nothing_stays(tmp_path: Path) -> None:
    place, _ = place_with_ssh(tmp_path, REFUSES)
    with pytest.raises(KnownError, match="not known to ssh") as refused:
        await place.add("git@git.harbour.example:ida/skills.git")
    assert "terminal" in refused.value.advice
    assert place.shelf.sources() == ()
    assert not place.shelf.data("skills").exists()
    await place.close()


async def test_without_ssh_it_says_that_it_cannot_be_had(tmp_path: Path) -> None:
    place, _ = place_with_ssh(tmp_path, REFUSES)
    (tmp_path / "bin" / "ssh").unlink()
    variables = {"PATH": str(tmp_path / "bin"), "HOME": "/"}
    other = Place(tmp_path, around=GitSurroundings(shutil.which("git"), variables), name="other")
    with pytest.raises(KnownError, match="ssh cannot be started"):
        await other.add("git@git.harbour.example:ida/skills.git")
    await place.close()
    await other.close()

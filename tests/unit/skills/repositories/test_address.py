"""Addresses of repositories: what git may be given, and what is refused before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.skills.importing.limits import ImportRefused
from desktop.skills.repositories.address import read_address, usual_name


@pytest.mark.parametrize(
    ("text", "protocol", "name"),
    [
        ("https://git.harbour.example/gauge-skills", "https", "gauge-skills"),
        ("  https://git.harbour.example/ida/Gauge_Skills.git ", "https", "gauge-skills"),
        ("https://git.harbour.example:8443/x/skills/", "https", "skills"),
        ("ssh://git@git.harbour.example/ida/skills.git", "ssh", "skills"),
        ("https://git.harbour.example/ida/skills/.git", "https", "skills"),
        ("git@git.harbour.example:ida/skills.git", "ssh", "skills"),
    ],
)
def test_an_address_of_a_host_says_which_protocol_git_may_use(text: str, protocol: str, name: str) -> None:
    found = read_address(text)
    assert (found.kind, found.protocol, found.here) == ("git", protocol, False)
    assert usual_name(found) == name


def test_a_place_on_this_computer_is_a_repository_a_folder_or_an_archive(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "work" / ".git").mkdir(parents=True)
    for inner in ("objects", "refs"):
        (tmp_path / "bare.git" / inner).mkdir(parents=True)
    (tmp_path / "bare.git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "skills.tar.gz").write_bytes(b"x")
    for name, kind in (("plain", "folder"), ("work", "git"), ("bare.git", "git"), ("skills.tar.gz", "archive")):
        found = read_address(str(tmp_path / name))
        assert (found.kind, found.here) == (kind, True), name
    assert read_address(f"file://{tmp_path}/work").kind == "git"


@pytest.mark.parametrize(
    "text",
    [
        "https://ida:secret@git.harbour.example/x",
        "https://ghp_0123456789@git.harbour.example/x",
        "ssh://git:secret@git.harbour.example/x",
    ],
)
def test_a_name_or_password_in_an_address_is_refused_and_not_said_again(text: str) -> None:
    with pytest.raises(ImportRefused, match="password") as refused:
        read_address(text)
    assert "secret" not in refused.value.advice
    assert "ghp_" not in refused.value.advice
    assert "ssh agent" in refused.value.advice


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-oProxyCommand=touch",
        "--upload-pack=touch x",
        "ext::sh -c touch% x",
        "git::https://x.example/y",
        "http://git.harbour.example/x",
        "git://git.harbour.example/x",
        "ftp://git.harbour.example/x",
        "https://git.harbour.example/x?token=1",
        "https://git.harbour.example/x#readme",
        "https://-x.example/y",
        "https:///x",
        "https://git.harbour.example",
        "ssh://-oProxyCommand=touch/x",
        "ssh://-x@git.harbour.example/x",
        "git@git.harbour.example:-x",
        "https://git.harbour.example/a\u202eb",
        "https://git.harbour.example/a\nb",
        "https://[::1/x",
        "ida/skills",
        "/nowhere/at/all",
        "/etc/hostname",
        "x" * 2_000,
    ],
)
def test_what_is_no_address_or_would_do_more_than_fetch_is_refused_with_the_next_step(text: str) -> None:
    with pytest.raises(ImportRefused) as refused:
        read_address(text)
    assert refused.value.next_step

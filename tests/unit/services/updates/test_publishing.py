"""Publishing: a repository out of a folder of packages, and what a build takes along of it."""

import json
import stat
from pathlib import Path

import pytest
from publishing.__main__ import main
from publishing.packages import lines_of

from desktop.services.updates.build import source_of
from tests.servers.updates import SmallAssent

pytestmark = pytest.mark.spec("R-UPD-1")
ADDRESS = "https://updates.harbour.example/assent/"


def _published(folder: Path, *more: str) -> int:
    return main([str(folder / "served"), "--keys", str(folder / "keys"), *more])


def test_one_command_makes_keys_a_repository_and_what_a_build_takes(tmp_path: Path) -> None:
    SmallAssent("1.3").pack(tmp_path / "packages")
    build = tmp_path / "resources/updates"
    made = ("--new-keys", "--packages", str(tmp_path / "packages"), "--for-builds", str(build), "--address", ADDRESS)
    assert _published(tmp_path, *made) == 0
    keys = sorted((tmp_path / "keys").iterdir())
    assert [key.name for key in keys] == ["root.pem", "snapshot.pem", "targets.pem", "timestamp.pem"]
    assert {stat.S_IMODE(key.stat().st_mode) for key in keys} == {0o600}
    source = source_of(tmp_path / "resources")
    assert source is not None
    assert source.address == ADDRESS
    assert source.root == (tmp_path / "served/metadata/1.root.json").read_bytes()


def test_keys_are_never_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _published(tmp_path, "--new-keys") == 0
    before = (tmp_path / "keys/root.pem").read_bytes()
    assert _published(tmp_path, "--new-keys") == 1
    assert (tmp_path / "keys/root.pem").read_bytes() == before
    assert "publish: " in capsys.readouterr().err


def test_times_are_renewed_without_the_keys_of_root_and_targets(tmp_path: Path) -> None:
    assert _published(tmp_path, "--new-keys") == 0
    for role in ("root", "targets"):
        (tmp_path / f"keys/{role}.pem").unlink()
    assert _published(tmp_path) == 0
    assert json.loads((tmp_path / "served/metadata/timestamp.json").read_bytes())["signed"]["version"] == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [("assent-1.3-linux-x86_64.zip", "holds no package"), ("assent-1.4-linux-x86_64.tar.gz", "holds no resources")],
)
def test_what_is_no_package_is_not_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    package = SmallAssent("1.3").pack(tmp_path / "packages")
    package.rename(package.with_name(name))
    assert _published(tmp_path, "--new-keys", "--packages", str(tmp_path / "packages")) == 1
    assert said in capsys.readouterr().err


def test_an_address_that_is_not_encrypted_is_not_built_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _published(tmp_path, "--new-keys", "--for-builds", str(tmp_path / "b"), "--address", "http://x") == 1
    assert "https://" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


def test_lines_of_a_list_of_changes() -> None:
    text = "# What is new\n\n## 1.3\n\n- One\n  more.\n- Two.\n\n## 1.2\n\n- Old.\n"
    assert lines_of(text) == ["One more.", "Two."]
    assert lines_of("") == []


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"address": 5}', '{"address": ""}'])
def test_a_build_with_a_broken_place_has_none(tmp_path: Path, broken: str) -> None:
    (tmp_path / "updates").mkdir()
    (tmp_path / "updates/root.json").write_text("{}")
    (tmp_path / "updates/source.json").write_text(broken)
    assert source_of(tmp_path) is None

"""`dev.py wheels --imports`: what our modules import is looked for in another computer's packages, by reading."""

from pathlib import Path

import pytest
from wheels.importing import Walk, machines_of
from wheels.targets import TARGETS

WINDOWS = next(one for one in TARGETS if one.name == "win_amd64")
MAC = next(one for one in TARGETS if one.name == "macosx_arm64")
pytestmark = pytest.mark.spec("R-PKG-3")


def _wrong(tmp_path: Path, ours: str, target: object = WINDOWS, **packages: str) -> list[str]:
    root = tmp_path / "root"
    for name, text in (("__init__.py", ""), ("one.py", ours)):
        (root / "desktop").mkdir(parents=True, exist_ok=True)
        (root / "desktop" / name).write_text(text)
    (root / "skills").mkdir()
    site = tmp_path / "site"
    for name, text in packages.items():
        path = site / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Walk(site, target, "3.11", (), root).wrong  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "named"),
    [
        ("import soup\n", "soup"),
        ("def later():\n    from soup import spoon\n", "soup"),
        ("lazy_module('soup')\n", "soup"),
        ("import fcntl\n", "fcntl"),
        ("from signal import SIGKILL\n", "signal.SIGKILL"),
        ("from pot import lid\n", "pot.lid"),
        ("import pot\nimport pan\n", "soup"),
        ("from desktop import two\n", "desktop.two"),
    ],
)
def test_what_is_not_there_on_windows_is_named(tmp_path: Path, ours: str, named: str) -> None:
    (found,) = _wrong(tmp_path, ours, pot="handle = 1\n", pan="import soup\n")
    assert f"imports {named}, and it is not there" in found


@pytest.mark.parametrize(
    "ours",
    [
        "import asyncio, json, urllib.parse\nfrom pot import handle\n",
        "import sys\nif sys.platform != 'win32':\n    import fcntl\n",
        "try:\n    import soup\nexcept ImportError:\n    soup = None\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import soup\n",
        "import sys\nif sys.platform != 'linux':\n    raise ImportError('x')\nimport winreg\n",
        "import sys\nif sys.platform != 'linux':\n    raise ImportError('for Linux')\n",
    ],
)
def test_what_is_there_or_not_asked_for_on_windows_is_not_named(tmp_path: Path, ours: str) -> None:
    assert _wrong(tmp_path, ours, pot="handle = 1\ndef cook():\n    import soup\n") == []


def test_a_mac_has_what_windows_has_not(tmp_path: Path) -> None:
    assert _wrong(tmp_path, "import fcntl\n", MAC) == []


def test_machine_code_says_for_which_machine_it_is() -> None:
    windows = b"MZ" + bytes(0x3A) + (0x40).to_bytes(4, "little") + b"PE\0\0" + (0x8664).to_bytes(2, "little")
    mac = b"\xcf\xfa\xed\xfe" + (0x0100000C).to_bytes(4, "little")
    assert (machines_of(windows), machines_of(mac), machines_of(b"\x7fELF")) == ({0x8664}, {0x0100000C}, set())

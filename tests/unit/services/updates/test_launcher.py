"""What starts the current version is renewed by a version that has started well, and each one starts each version."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from desktop.services.updates.launcher import OWN, number_of, renew_launcher
from desktop.services.updates.versions import Versions
from tests.servers.updates import SmallAssent
from tests.unit.services.updates.conftest import ROOT
from tests.unit.services.updates.test_versions import started

pytestmark = pytest.mark.spec("R-UPD-2")
TODAY = ROOT / "packaging/launcher/assent"
EARLIER = sorted(Path(__file__).with_name("launchers").iterdir())
"""Those of earlier versions, by their numbers: somebody may have each of them."""
LAUNCHER_1 = "4c1246c8c8da201da783c166ad690752e259ba8b16b23c796ca6e12ec90c6872"
"""SHA-256 of today's. Change it with the launcher, never without giving it the next number and keeping this one in
``launchers``, once a version with it was handed out."""
BROKEN = b"#!/bin/sh\n# launcher 7\nexit 1\n"


def updated(versions: Versions, own: bytes, **how: object) -> Versions:
    """The installation after an update to 1.3, which carries a launcher."""
    with versions.claimed() as staging:
        place = SmallAssent("1.3", **how).lay(staging)  # type: ignore[arg-type]
        (place / OWN).write_bytes(own)
        versions.take_in(place, "1.3")
    versions.switch("1.3")
    return Versions(versions.top, "1.3")


def test_a_launcher_that_is_another_one_has_another_number() -> None:
    assert number_of(TODAY.read_bytes()) == 1
    assert hashlib.sha256(TODAY.read_bytes()).hexdigest() == LAUNCHER_1
    assert [number_of(one.read_bytes()) for one in EARLIER] == [int(one.name) for one in EARLIER]


@pytest.mark.parametrize("launcher", [*EARLIER, TODAY], ids=lambda one: one.name)
def test_every_launcher_that_somebody_may_have_starts_a_new_version_and_comes_back_from_it(
    versions: Versions, launcher: Path
) -> None:
    shutil.copy(launcher, versions.launcher)
    new = updated(versions, TODAY.read_bytes())
    assert started(new, "--home", "/h") == "1.3:--home /h"
    new.started_well()
    assert started(new) == "1.3:"
    new.switch("1.2.4")
    assert started(versions) == "1.2.4:"
    versions.started_well()
    shutil.rmtree(versions.place("1.3"))
    updated(versions, TODAY.read_bytes(), code=139)
    assert started(versions).splitlines() == ["1.3:", "1.2.4:"]
    assert (versions.current, versions.fell_back()) == ("1.2.4", "1.3")


def test_a_version_that_started_well_puts_a_newer_launcher_in_the_place_of_the_older(versions: Versions) -> None:
    shutil.copy(EARLIER[0], versions.launcher)
    new = updated(versions, TODAY.read_bytes())
    new.started_well()
    assert renew_launcher(new)
    assert versions.launcher.read_bytes() == TODAY.read_bytes()
    assert os.access(versions.launcher, os.X_OK)
    assert started(new) == "1.3:"
    assert sorted(path.name for path in versions.top.iterdir()) == ["assent", "versions"]
    assert not renew_launcher(new)


def test_a_launcher_is_renewed_under_a_start_that_still_waits_for_its_version(versions: Versions) -> None:
    """The shell reads its script as it goes: the old one stays whole for who reads it."""
    shutil.copy(EARLIER[0], versions.launcher)
    fresh, there = versions.top / "fresh", versions.launcher
    fresh.write_text("#!/bin/sh\n# launcher 9\n" + "exit 99\n" * 2000)
    script = f'#!/bin/sh\nrm "{versions.folder}/trial"\nmv -f "{fresh}" "{there}"\necho came\nexit 3\n'
    updated(versions, b"", start=script)
    assert started(versions, code=3) == "came"


@pytest.mark.parametrize(
    "own", [BROKEN, b"", b"no program", b"#!/bin/sh\n# launcher 0\n", b"#!/bin/sh\n# launcher 1x\n"]
)
def test_a_launcher_that_starts_nothing_or_is_no_newer_one_is_not_taken(versions: Versions, own: bytes) -> None:
    new = updated(versions, own)
    new.started_well()
    assert not renew_launcher(new)
    assert versions.launcher.read_bytes() == TODAY.read_bytes()
    assert sorted(path.name for path in versions.top.iterdir()) == ["assent", "versions"]


def test_an_older_version_puts_no_older_launcher_back(versions: Versions) -> None:
    (versions.place("1.2.4") / OWN).write_bytes(EARLIER[0].read_bytes())
    assert not renew_launcher(versions)
    assert versions.launcher.read_bytes() == TODAY.read_bytes()


def test_a_version_that_is_not_current_any_more_renews_nothing(versions: Versions) -> None:
    shutil.copy(EARLIER[0], versions.launcher)
    (versions.place("1.2.4") / OWN).write_bytes(TODAY.read_bytes())
    updated(versions, TODAY.read_bytes())
    assert not renew_launcher(versions)


def test_a_launcher_that_is_a_link_to_elsewhere_is_left_alone(versions: Versions, tmp_path: Path) -> None:
    shutil.copy(EARLIER[0], tmp_path / "mine")
    versions.launcher.unlink()
    versions.launcher.symlink_to(tmp_path / "mine")
    (versions.place("1.2.4") / OWN).write_bytes(TODAY.read_bytes())
    assert not renew_launcher(versions)
    assert (tmp_path / "mine").read_bytes() == EARLIER[0].read_bytes()

"""The profile for macOS, as text: not run on a Mac by us. What is proven is what it says, and when it is used."""

from contextlib import closing
from dataclasses import replace

import pytest

from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement import reports
from desktop.safety.confinement.profile import SandboxProfile
from desktop.safety.confinement.seatbelt import PROGRAM, in_seatbelt, sandbox_text
from desktop.safety.confinement.select import Machine, SystemConfinement, refuses_outside
from tests.unit.safety.world import World

PROFILE = SandboxProfile(
    writable=("/Users/ann/.agent/workspace", "/Users/ann/proj"),
    read_only=("/Users/ann/.agent",),
    again_writable=("/Users/ann/.agent/workspace",),
    hidden=("/Users/ann/.ssh", "/Users/ann/.agent/data"),
    network=False,
    sealed=("/Users/ann/proj/second",),
)
GOLDEN = """(version 1)
(allow default)
(deny file-write*)
(allow file-write* (subpath "/Users/ann/.agent/workspace") (subpath "/Users/ann/proj") (subpath "/private/tmp/own"))
(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") \
(literal "/dev/urandom") (literal "/dev/tty") (literal "/dev/dtracehelper"))
(deny file-write* (subpath "/Users/ann/.agent"))
(allow file-write* (subpath "/Users/ann/.agent/workspace"))
(deny file-write* (subpath "/Users/ann/proj/second"))
(deny file-read* file-write* (subpath "/Users/ann/.ssh") (subpath "/Users/ann/.agent/data"))
(deny file-write-setugid)
(deny network*)
(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc") \
(global-name "com.apple.security.agent") (global-name "com.apple.secd") (global-name "com.apple.pasteboard.1") \
(global-name "com.apple.windowserver.active") (global-name "com.apple.coreservices.launchservicesd") \
(global-name "com.apple.tccd") (global-name "com.apple.tccd.system") (global-name "com.apple.appleeventsd"))
(deny signal)
(allow signal (target same-sandbox))
(deny process-info* (target others))
(deny appleevent-send)"""
SPEC = ProcessSpec(("bash", "-c", "true"), "/Users/ann/proj", {"PATH": "/bin"})


@pytest.mark.spec("R-FS-3", "R-FS-10")
def test_the_profile_says_the_walls_in_order_of_precedence() -> None:
    assert sandbox_text(PROFILE, "/private/tmp/own") == GOLDEN


def test_the_command_gets_its_own_temporary_folder_and_stays_one_word_each() -> None:
    made = in_seatbelt(SPEC, PROFILE, "/private/tmp/own")
    assert made.argv == (PROGRAM, "-p", GOLDEN, "bash", "-c", "true")
    assert made.env == {"PATH": "/bin", "TMPDIR": "/private/tmp/own"}
    assert (made.cwd, made.contained) == (SPEC.cwd, False)  # its processes end by their group


def test_the_network_is_opened_for_addresses_and_never_for_services() -> None:
    text = sandbox_text(replace(PROFILE, network=True), "/t")
    assert '(allow network* (remote ip "*:*") (local ip "*:*"))' in text
    assert text.index("(deny network*)") < text.index("(allow network*")
    assert "unix-socket" not in text


def test_a_skill_reads_only_what_it_is_given() -> None:
    text = sandbox_text(replace(PROFILE, seen=("/Users/ann/python",)), "/t")
    assert text.index("(deny file-read-data)") < text.index('(subpath "/Users/ann/python")')
    assert text.index('(subpath "/Users/ann/python")') < text.index("(deny file-read* file-write*")


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ('/a "b"', r'"/a \"b\""'),
        ("/a\\", r'"/a\\"'),
        ('/x") (allow file-write* (subpath "/', r'"/x\") (allow file-write* (subpath \"/"'),
        ("/new\nline", '"/new\nline"'),
    ],
)
def test_no_path_can_say_a_rule_of_its_own(path: str, written: str) -> None:
    text = sandbox_text(replace(PROFILE, writable=(path,), again_writable=()), "/t")
    assert f"(subpath {written})" in text
    outside = text
    for piece in text.split(r"\\"):  # what stands outside of quotes is ours alone
        outside = outside.replace(piece, piece.replace(r"\"", ""))
    assert outside.replace(r"\\", "").count('"') % 2 == 0


def test_without_sandbox_exec_nothing_is_claimed(world: World) -> None:
    bare = Machine(platform="darwin")
    confinement = SystemConfinement(world.policy, lambda: world.settings, machine=lambda: bare)
    report = confinement.probe()
    assert report.kind == "none"
    assert "bubblewrap" not in report.sentence  # which is not to be had there


def test_one_that_does_not_work_is_not_claimed_either(world: World) -> None:
    absent = Machine(platform="darwin", sandbox_exec=PROGRAM)
    with closing(
        SystemConfinement(world.policy, lambda: world.settings, kinds=("sandbox-exec",), machine=lambda: absent)
    ) as confinement:
        assert confinement.probe().kind == "none"


def test_the_trial_finds_out_what_lets_everything_through() -> None:
    assert not refuses_outside(lambda spec, _walls: spec)


def test_a_kernel_whose_landlock_is_too_old_counts_as_having_none(world: World) -> None:
    old = Machine(landlock_abi=0, processor="x86_64")
    report = SystemConfinement(world.policy, lambda: world.settings, machine=lambda: old).probe()
    assert report.kind == "none"
    assert "Installing bubblewrap would change that" in report.sentence
    assert report.lacks


def test_what_an_older_landlock_does_not_hold_is_said() -> None:
    assert any("Assent among them" in words for words in reports.landlock(5).lacks)
    assert not any("Assent among them" in words for words in reports.landlock(6).lacks)
    every = {
        (filtered, ports): set(reports.bubblewrap(filtered=filtered, ports=ports).lacks)
        for filtered in (False, True)
        for ports in (False, True)
    }
    assert every[True, True] < every[True, False] < every[False, False]
    assert every[True, True] < every[False, True] < every[False, False]

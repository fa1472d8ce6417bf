"""Reading shell commands: the golden table and more of our own, every part judged, denied paths named."""

import asyncio
import time
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import SettingsError
from desktop.domain.safety import Access
from desktop.safety.shell.programs import blocklist
from tests.harness.timeouts import Beat
from tests.unit.safety.world import World

CORPUS = Path(__file__).resolve().parents[3] / "data" / "shell_corpus.tsv"


def corpus() -> list[tuple[str, str]]:
    lines = [line for line in CORPUS.read_text().splitlines() if line and not line.startswith("#")]
    pairs = [line.split("\t", 1) for line in lines]
    return [(outcome, unescaped(command)) for outcome, command in pairs]


def unescaped(text: str) -> str:
    return (
        text.replace("\\\\", "\0")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\x01", "\x01")
        .replace("\0", "\\")
    )


@pytest.fixture
def shell_world(world: World) -> World:
    (world.workspace / "sub").mkdir()
    for name in ("existing.txt", "sub/existing.txt"):
        (world.workspace / name).write_text("here")
    return world


def outcome_of(world: World, command: str) -> str:
    reading = world.reader.read_now(command)
    return "blocked" if reading.blocked else reading.category.value


@pytest.mark.spec("R-BLK-1", "R-BLK-2", "R-BLK-3", "R-BLK-4", "R-BLK-5", "R-BLK-8", "R-TOOL-4")
@pytest.mark.parametrize(("expected", "command"), corpus(), ids=lambda value: repr(value)[:60])
def test_the_corpus_is_judged_as_written(shell_world: World, expected: str, command: str) -> None:
    assert outcome_of(shell_world, command) == expected, shell_world.reader.read_now(command)


@pytest.mark.spec("R-BLK-4", "R-PRM-2")
def test_every_part_is_judged_with_what_joins_it(shell_world: World) -> None:
    reading = shell_world.reader.read_now("cat note.txt | grep x && curl https://example.com/a > out.txt; ls $(pwd)")
    assert [(j.operator, j.text.split()[0], j.effect) for j in reading.judgements] == [
        ("", "cat", "reads"),
        ("|", "grep", "reads"),
        ("&&", "curl", "network"),
        (";", "ls", "reads"),
        ("$(", "pwd", "reads"),
    ]
    assert "example.com" in reading.judgements[2].touches
    assert str(shell_world.workspace / "out.txt") in reading.paths
    assert reading.uses_network


@pytest.mark.spec("R-PRM-2", "R-TOOL-4")
def test_the_reasons_say_why_it_is_admin(shell_world: World) -> None:
    reading = shell_world.reader.read_now("cat ~/.ssh/id_rsa > existing.txt")
    assert reading.category is Category.ADMIN
    assert "~/.ssh is denied" in reading.raised_because
    assert "overwrites" in reading.raised_because


def test_the_rejection_names_the_word_and_a_safe_way(shell_world: World) -> None:
    blocked = shell_world.reader.read_now("ls && /bin/rm -rf build").blocked
    assert blocked is not None
    assert blocked.word == "rm"
    assert "trash folder inside the workspace" in blocked.sentence


@pytest.mark.spec("R-BLK-6")
def test_extra_patterns_block_whatever_their_case(shell_world: World) -> None:
    shell_world.change(blocked_patterns=(r"terraform\s+destroy",))
    assert outcome_of(shell_world, "cd x && TERRAFORM  destroy") == "blocked"
    assert outcome_of(shell_world, "terraform plan") == "write"


@pytest.mark.spec("R-BLK-6")
def test_an_invalid_pattern_is_a_settings_error_and_no_crash(shell_world: World) -> None:
    with pytest.raises(SettingsError, match=r"\(unclosed"):
        blocklist.compile_patterns(["fine", "(unclosed"])
    shell_world.change(blocked_patterns=("(unclosed",))
    assert outcome_of(shell_world, "ls") == "admin"


@pytest.mark.spec("R-BLK-6")
def test_what_is_longer_than_the_patterns_see_is_admin(shell_world: World) -> None:
    shell_world.change(blocked_patterns=("forbidden",))
    assert outcome_of(shell_world, "echo " + "x" * 11_000) == "admin"


@pytest.mark.spec("R-BLK-7")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rm foo", "admin"),
        ("rm -f foo", "admin"),
        ("rm -- -r", "blocked"),
        ("rm -r foo", "blocked"),
        ("rm -fR foo", "blocked"),
        ("rm --rec foo", "blocked"),
        ("rm $x", "blocked"),
        ("rm {-r,foo}", "blocked"),
        ("rm * -r", "blocked"),
        ("sudo rm x", "blocked"),
    ],
)
def test_only_plain_rm_can_be_relaxed_to_asking(shell_world: World, command: str, expected: str) -> None:
    shell_world.change(relax_plain_rm=True)
    assert outcome_of(shell_world, command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "(" * 3000 + "rm x" + ")" * 3000,
        "$(" * 300 + "ls" + ")" * 300,
        "a|" * 5000 + "b",
        "x" * 100_000,
        "'" * 999,
        "\n" * 50_000,
        "echo " + "{a,b}" * 200,
        "cat " + "~/$x/" * 500,
        "sh -c " * 100 + "ls",
        "`" * 501,
        "<<a" * 200,
        "echo \ud800",
    ],
)
def test_monstrous_commands_are_read_in_bounded_time(shell_world: World, command: str) -> None:
    began = time.thread_time()
    outcome_of(shell_world, command)
    assert time.thread_time() - began < 10


def test_more_than_can_be_read_is_admin(shell_world: World) -> None:
    assert outcome_of(shell_world, "echo " + "x" * 100_001) == "admin"
    assert outcome_of(shell_world, "cat " + " ".join(f"f{n}" for n in range(1000))) == "admin"


async def test_reading_happens_off_the_loop(shell_world: World) -> None:
    command = "ls x; " * 4_000 + "ls | rm x"
    began, beat = time.process_time(), Beat()
    beating = asyncio.ensure_future(beat.run())
    await asyncio.sleep(0)  # it begins
    assert (await shell_world.reader.read(command)).blocked is not None
    await asyncio.sleep(0.01)  # the beat has its turn
    beating.cancel()
    assert beat.longest < (time.process_time() - began) / 4, "the loop's own thread did not do the work"


@pytest.mark.spec("R-TOOL-4", "R-FS-3")
@pytest.mark.parametrize("command", ["cat innocent", "cat < innocent", "cat ./inno*", "cp innocent copy", "cat *"])
def test_a_hard_link_to_a_denied_file_is_taken_for_what_it_is(shell_world: World, command: str) -> None:
    (shell_world.workspace / "innocent").hardlink_to(shell_world.ssh / "id_rsa")
    (shell_world.workspace / "twin").hardlink_to(shell_world.workspace / "note.txt")
    reading = shell_world.reader.read_now(command)
    assert reading.category is Category.ADMIN
    assert "another name of a file in ~/.ssh" in reading.raised_because
    assert outcome_of(shell_world, "cat twin") == "write"


@pytest.mark.spec("R-BLK-8")
@pytest.mark.parametrize(
    "command",
    [
        "hwclock -w",
        "hwclock --systohc",
        "hwclock -rw",
        "busybox hwclock -s",
        "date -s x",
        "date --s x",
        "timedatectl set-time 10",
        "sysctl -w a=b",
        "modprobe x",
        "ip link set x down",
        "mount a b",
        "swapon a",
        "systemctl stop x",
        "loginctl terminate-user x",
        "hostnamectl set-hostname x",
        "localectl set-locale x",
        "ldconfig",
        "apt install x",
        "update-alternatives --set x y",
        "update-rc.d x",
        "rtcwake -m mem",
        "resize2fs x",
        "chsh",
        "dmesg -C",
        "rfkill block all",
        "journalctl --vacuum-size=1M",
        "timeout 3 hwclock -w",
        "find . -exec hwclock -w ';'",
        "journalctl --smart-relinquish-var",
        "journalctl --rel",
        "journalctl --set",
        "journalctl --up",
        "journalctl --syn",
        "journalctl --cursor-file=x",
        "journalctl --unheard-of",
        "dmesg --rea",
        "dmesg -xC",
        "hostname --file=x",
        "hostname --fi x",
        "x=-C; dmesg $x",
        "rsync --del a b",
        "git reset --har",
        "git push --del a b",
        "git branch --del x",
        "iptables-restore x",
        "iptables-legacy -F",
        "ip6tables-nft -F",
        "mke2fs x",
        "mkdosfs x",
        "debugfs -w x",
        "nvme format x",
        "docker-compose up",
        "podman-compose up",
        "crictl rm x",
        "ctr run x",
        "bootctl install",
        "mokutil --import x",
        "wpa_cli reconfigure",
    ],
)
def test_what_changes_the_machine_is_admin(world: World, command: str) -> None:
    assert world.reader.read_now(command).category is Category.ADMIN


@pytest.mark.parametrize(
    "command",
    [
        "hwclock",
        "hwclock -r",
        "date",
        "date -d now",
        "dmesg -T",
        "journalctl -u x",
        "dmesg --level=err -w",
        "journalctl -u $UNIT --since=today -n 50 --no-pager",
        "journalctl -b -1 -xe",
        "hostname -f",
    ],
)
def test_what_only_shows_something_of_the_machine_is_not(world: World, command: str) -> None:
    assert world.reader.read_now(command).category is Category.WRITE


@pytest.mark.spec("R-FS-12")
def test_a_reading_has_what_the_boundary_says_now_of_the_workspace(shell_world: World) -> None:
    workspace = str(shell_world.workspace)
    assert shell_world.reader.read_now("ls").place == shell_world.policy.explain(workspace, Access.LIST)
    shell_world.change(denied=(workspace,))
    place = shell_world.reader.read_now("ls").place
    assert place is not None
    assert not place.allowed

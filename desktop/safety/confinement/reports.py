"""What each kind of confinement holds and what it does not, in words for a person (C-33)."""

from __future__ import annotations

from desktop.domain.safety import ConfinementReport

PORTS_ABI, SIGNALS_ABI = 4, 6
"""The versions of Landlock from which it closes ports, and keeps signals inside."""
_SECOND_NAME = (
    "a file in a large denied folder that has a second name (a hard link) in an open one: there it is read like any "
    "other"
)


_SERVICES = "services of this computer and of your desktop, and sockets of any other program"
_AMOUNTS = "how much disk and processor time a command takes until its time is over"
_MEMORY = "memory above the limit for commands, which is looked at twice a second"
_SHARED = "memory that other programs share"
_HIDDEN = "memory that a program hides on purpose, such as files in memory that it sends away and nobody takes"
_SCREENS = "a screen that listens on TCP (ports 6000 to 6063, as ssh -X does), when the network is on"


def bubblewrap(*, filtered: bool, ports: bool) -> ConfinementReport:
    """The report for bubblewrap. ``filtered``: with a filter of system calls besides. ``ports``: the ports of screens
    are closed."""
    return ConfinementReport(
        "bubblewrap",
        "Confined by bubblewrap: commands write only in allowed folders and do not see the denied ones.",
        (
            "writes outside the allowed folders",
            "denied paths and Assent's own data",
            "other processes",
            *((_SERVICES,) if filtered else ()),
            "the network, when it is off",
            "leftover processes",
            _MEMORY,
            _SHARED,
            *((_SCREENS,) if ports else ()),
        ),
        (
            "reading what is neither denied nor Assent's own",
            _SECOND_NAME,
            "making a denied path that does not exist yet",
            "services on localhost, when the network is on",
            _AMOUNTS,
            _HIDDEN,
            *(() if ports else (_SCREENS,)),
            *(
                ()
                if filtered
                else (
                    "services of this computer outside /run and /tmp, and with the network on all of them",
                    "the kernel's keyring and virtual machines' sockets",
                )
            ),
        ),
    )


def landlock(abi: int) -> ConfinementReport:
    """What a person is told where Landlock confines; ``abi`` is the version that the kernel has."""
    return ConfinementReport(
        "landlock",
        "Confined by Landlock: commands write only in allowed folders and cannot open the denied ones.",
        (
            "writes outside the allowed folders",
            "denied paths and Assent's own data",
            _SERVICES,
            "the network, when it is off",
            _MEMORY,
            f"{_SHARED}: none can be had, so that locks and pools of Python's multiprocessing do not work",
            *((_SCREENS,) if abi >= PORTS_ABI else ()),
        ),
        (
            "reading what is neither denied nor Assent's own",
            _SECOND_NAME,
            "folders that hold a denied path cannot be listed, nor new files made in them",
            "names, sizes and times of files and the command lines of other processes can be seen",
            "changing permissions and times of files that are yours",
            "how many processes there are at once",
            _AMOUNTS,
            _HIDDEN,
            "services on localhost, when the network is on",
            *(() if abi >= PORTS_ABI else (_SCREENS,)),
            *(() if abi >= SIGNALS_ABI else ("ending your other processes, Assent among them",)),
        ),
    )


def seatbelt() -> ConfinementReport:
    """The report for ``sandbox-exec`` (macOS)."""
    return ConfinementReport(
        "sandbox-exec",
        "Confined by sandbox-exec: commands write only in allowed folders and do not see the denied ones.",
        (
            "writes outside the allowed folders",
            "denied paths and Assent's own data",
            "the keychain",
            "signals to other processes",
            "the network, when it is off",
        ),
        (
            "reading what is neither denied nor Assent's own",
            _SECOND_NAME,
            "processes that leave their group before a command ends",
            "services on localhost, when the network is on",
            f"how much memory a command takes, and {_AMOUNTS}",
            "this has been tried on your computer just now, but not on every macOS by its makers",
        ),
    )


def nothing(platform: str) -> ConfinementReport:
    """The report where no kind of confinement works."""
    remedy = " Installing bubblewrap would change that." if platform == "linux" else ""
    return ConfinementReport(
        "none",
        "Not confined: nothing on this computer holds commands in the allowed folders; they can do what you can."
        + remedy,
        (),
        ("writes outside the allowed folders", "denied paths", "the network", "services of this computer"),
    )

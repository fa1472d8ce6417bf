"""Which system calls a confined process may not make: a seccomp program in the kernel's own bytes (Linux).

Pure arithmetic. Namespaces and Landlock hold files; this holds the rest: Unix sockets, which lead to services of this
computer under names that nobody can list (relative, renamed, linked), the kernel's keyring, new namespaces and mounts,
memory that is shared by number, other processes' limits and priorities, typing into a terminal. What is refused fails
with EPERM; ``clone3`` fails with ENOSYS, so that programs fall back to ``clone``, whose flags can be read here. Pairs
of Unix sockets (``socketpair``) can be made: they lead nowhere else.
"""

from __future__ import annotations

import errno
import struct

from desktop.domain.loading.lazy_dataclass import dataclass

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NAMES = ("x86_64", "aarch64")
_REFUSED = {
    # namespaces, mounts
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265),
    # the kernel's keyring
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # what reaches into the kernel or goes around this filter
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    # memory that stays when all who used it have ended, and counts for none of them
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    # other processes
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "kcmp": (312, 272),
    "process_madvise": (440, 440),
}
# semaphores and messages that are shared by number: a namespace of one's own makes them harmless
_SHARED = {
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
_LIMITS = (302, 261)  # prlimit64, which can take away another process's memory and time
# chmod, chown, utime, setxattr, removexattr and their kin, by path: Landlock does not hold them back anywhere
_FREEZING = (
    (90, 92, 94, 132, 188, 189, 197, 198, 235, 260, 261, 268, 280, 452, 463, 466),
    (5, 6, 14, 15, 53, 54, 88, 452, 463, 466),
)
_SOCKET, _SOCKETPAIR, _IOCTL, _CLONE, _UNSHARE = (41, 198), (53, 199), (16, 29), (56, 220), (272, 97)
_SENDING = (((44, 206), 3), ((46, 211), 2), ((307, 269), 3))  # sendto, sendmsg, sendmmsg: which argument has the flags
_CLONE3 = 435
_NEW_USER = 0x10000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_INET, _INET6, _NETLINK = 2, 10, 16
_DATAGRAM = 2
_FAST_OPEN = 0x20000000
_OWN_PROTOCOLS = 256

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _MASK, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _DENY, _ABSENT = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

Step = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class FilterRules:
    """What the filter is for. ``families``: the kinds of socket that may be made. ``apart``: the process has processes,
    shared memory and terminals of its own. ``frozen``: no other modes, owners, times and attributes of files."""

    families: tuple[int, ...]
    apart: bool
    frozen: bool = False


def in_bubblewrap() -> FilterRules:
    """The filter for a process inside bubblewrap.

    Never Unix sockets: a namespace of one's own holds abstract names, but a path leads to a service in any of them.
    Never vsock, which no namespace holds.
    """
    return FilterRules((_INET, _INET6, _NETLINK), apart=True)


def in_landlock(network: bool, frozen: bool) -> FilterRules:
    """The rules under Landlock, where everything is shared with this computer."""
    return FilterRules((_INET, _INET6, _NETLINK) if network else (), apart=False, frozen=frozen)


def supports(machine: str) -> bool:
    """Whether the numbers of this processor's calls are known here."""
    return machine in _AUDIT_ARCH


def program(machine: str, held: FilterRules) -> bytes:
    """The filter as ``struct sock_filter[]``. Raises KeyError for a machine that is not supported."""
    at = _NAMES.index(machine) if machine in _AUDIT_ARCH else -1
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _DENY),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, 0x40000000),
        (_RETURN, 0, 0, _DENY),
        (_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _ABSENT),
    ]
    refused = {numbers[at] for numbers in _REFUSED.values()}
    if not held.apart:
        refused |= {numbers[at] for numbers in _SHARED.values()}
    if held.frozen:
        refused |= set(_FREEZING[at])
    for number in sorted(refused):
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _DENY)]
    steps += _sockets(at, held)
    steps += _when(_IOCTL[at], 1, [(_EQUAL, 1, 0, _TIOCSTI), (_EQUAL, 0, 1, _TIOCLINUX)])
    for call in (_CLONE, _UNSHARE):
        steps += _when(call[at], 0, [(_ANY_BIT, 0, 1, _NEW_USER)])
    if not held.apart:
        steps += _when(_LIMITS[at], 0, [(_EQUAL, 1, 0, 0)])  # 0: its own
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _when(number: int, argument: int, tests: list[Step]) -> list[Step]:
    """For one call: the tests on the lower half of an argument, each of which jumps 0 to a refusal that follows the
    last and 1 past it; else the call goes on to ``allow``."""
    body: list[Step] = [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
        *tests,
        (_RETURN, 0, 0, _DENY),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return [(_EQUAL, 0, len(body), number), *body]


def _sockets(at: int, held: FilterRules) -> list[Step]:
    """Only these families; no pair of datagram sockets, which can be sent on to any address; and of what connects by
    TCP nothing that Landlock's rules for ports do not see: MPTCP and SMC (256 and above), data in the first packet."""
    many = len(held.families)
    family: list[Step] = [(_EQUAL, many - index, 0, family) for index, family in enumerate(held.families)]
    protocol: list[Step] = [(_RETURN, 0, 0, _DENY), (_LOAD, 0, 0, _ARGUMENTS + 16), (_AT_LEAST, 0, 1, _OWN_PROTOCOLS)]
    pair: list[Step] = [(_MASK, 0, 0, 0xF), (_EQUAL, 0, 1, _DATAGRAM)]
    steps = _when(_SOCKET[at], 0, [*family, *protocol]) + _when(_SOCKETPAIR[at], 1, pair)
    for numbers, flags in _SENDING:
        steps += _when(numbers[at], flags, [(_ANY_BIT, 0, 1, _FAST_OPEN)])
    return steps

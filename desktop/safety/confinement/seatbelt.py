"""A command inside ``sandbox-exec`` (macOS): the sandbox as a profile of Apple's sandbox language.

Not run on a Mac by us: the text of the profile is tested, its effect is not. Before it is relied on, the same trial as
on Linux is made on the machine itself (``confinement``): a command that writes outside or reads what is hidden means
that nothing is claimed. In a profile the last rule that fits decides, so the order here is the order of precedence.
"""

from __future__ import annotations

from dataclasses import replace

from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.profile import SandboxProfile

PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper")
_RUNTIME = (
    "/System",
    "/Library/Apple",
    "/usr",
    "/bin",
    "/sbin",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/private/etc/localtime",
    "/private/etc/ssl",
    "/dev",
)
_KEYS = (
    "com.apple.SecurityServer",
    "com.apple.securityd.xpc",
    "com.apple.security.agent",
    "com.apple.secd",
    "com.apple.pasteboard.1",
    "com.apple.windowserver.active",
    "com.apple.coreservices.launchservicesd",
    "com.apple.tccd",
    "com.apple.tccd.system",
    "com.apple.appleeventsd",
)


def in_seatbelt(spec: ProcessSpec, profile: SandboxProfile, temporary: str) -> ProcessSpec:
    """``temporary`` is a folder of the process's own, for TMPDIR. Its processes end by their group (R-TMO-2)."""
    argv = (PROGRAM, "-p", sandbox_text(profile, temporary), *spec.argv)
    return replace(spec, argv=argv, env={**spec.env, "TMPDIR": temporary})


def sandbox_text(profile: SandboxProfile, temporary: str) -> str:
    """The profile in Apple's sandbox language."""
    rules = ["(version 1)", "(allow default)"]
    if profile.seen is not None:
        rules.append("(deny file-read-data)")
        rules.append(_rule("allow file-read*", (*_RUNTIME, *profile.seen, *profile.allowed, temporary)))
    rules.append("(deny file-write*)")
    rules.append(_rule("allow file-write*", (*profile.writable, temporary)))
    rules.append(_rule("allow file-write-data file-ioctl", _DEVICES, exact=True))
    rules.append(_rule("deny file-write*", profile.read_only))
    rules.append(_rule("allow file-write*", profile.again_writable))
    rules.append(_rule("deny file-write*", profile.sealed))
    rules.append(_rule("deny file-read* file-write*", profile.hidden))
    for path in (one for one in profile.laid_over if one not in profile.hidden or one in profile.opened):
        rules.append(_rule("allow file-read*" if path in profile.opened else "deny file-read* file-write*", (path,)))
    rules.append("(deny file-write-setugid)")
    rules.append("(deny network*)")
    if profile.network:
        rules.append('(allow network* (remote ip "*:*") (local ip "*:*"))')
        rules.append('(allow network-outbound (literal "/private/var/run/mDNSResponder"))')
    rules.append(f"(deny mach-lookup {' '.join(f'(global-name {_quoted(name)})' for name in _KEYS)})")
    rules.append("(deny signal)")
    rules.append("(allow signal (target same-sandbox))")
    rules.append("(deny process-info* (target others))")
    rules.append("(deny appleevent-send)")
    return "\n".join(rule for rule in rules if rule)


def _rule(what: str, paths: tuple[str, ...], *, exact: bool = False) -> str:
    kind = "literal" if exact else "subpath"
    return f"({what} {' '.join(f'({kind} {_quoted(path)})' for path in paths)})" if paths else ""


def _quoted(text: str) -> str:
    """A string of the profile. A path may hold anything but NUL."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

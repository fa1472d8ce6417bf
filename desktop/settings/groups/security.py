"""What agents may touch, and when a person is asked."""

from __future__ import annotations

from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting

_DENIED = (
    "~/.ssh",
    "~/.gnupg",
    "/etc/shadow",
    "/etc/passwd",
    "~/.aws",
    "~/.azure",
    "~/.config/gcloud",
    "~/.kube",
    "~/.docker/config.json",
    "~/.netrc",
    "~/.git-credentials",
    "{home}/data",
)
DENIED_HERE = {
    "linux": (
        "~/.local/share/keyrings",
        "~/.mozilla",
        "~/.config/google-chrome",
        "~/.config/chromium",
        "~/.config/BraveSoftware",
        "~/.config/microsoft-edge",
        "~/.thunderbird",
    ),
    "darwin": (
        "~/Library/Keychains",
        "~/Library/Cookies",
        "~/Library/Safari",
        "~/Library/Application Support/Google/Chrome",
        "~/Library/Application Support/Firefox",
        "~/Library/Application Support/BraveSoftware",
    ),
    "win32": (
        "~/AppData/Local/Microsoft/Credentials",
        "~/AppData/Roaming/Microsoft/Credentials",
        "~/AppData/Local/Google/Chrome/User Data",
        "~/AppData/Local/Microsoft/Edge/User Data",
        "~/AppData/Roaming/Mozilla",
    ),
}


@dataclass(frozen=True, slots=True)
class Security:
    """Settings of what agents may touch: folders, commands, the network."""

    allowed_paths: tuple[str, ...] = setting(
        ("{home}/workspace", "/tmp/agent"),
        "Allowed folders",
        "paths",
        "File tools may read and, after you agreed, write here and below.",
        "Filesystem",
    )
    denied_paths: tuple[str, ...] = setting(
        _DENIED,
        "Denied folders",
        "paths",
        "Never read or written by file tools, also inside an allowed folder.",
        "Filesystem",
    )
    auto_approve_workspace_writes: bool = setting(
        False,
        "Write in the workspace without asking",
        "flag",
        "File tools write inside the workspace without a request. Everything else still asks.",
        "Approvals",
    )
    auto_approve_reading_commands: bool = setting(
        False,
        "Run commands that only read without asking",
        "flag",
        "A command of which every part is known and only reads, such as ls -la, runs at once: without network, and "
        "with every folder read-only to it. Everything else still asks.",
        "Approvals",
    )
    blocklist_extra: tuple[str, ...] = setting(
        (),
        "More blocked commands",
        "patterns",
        "Regular expressions; a shell command that one of them matches is refused. "
        "This is an extra safeguard: it cannot stop every way to do the same.",
        "Approvals",
    )
    rm_without_recursion: Literal["block", "ask"] = setting(
        "block",
        "rm of single files",
        "choice",
        "Refuse plain rm, or ask for each as an admin call.",
        "Approvals",
        choices=(("block", "Refuse"), ("ask", "Ask each time")),
    )
    admin_jobs: bool = setting(
        False,
        "Admin calls of scheduled jobs",
        "flag",
        "Lets a job make admin calls of tools that it allows by exact name, with nobody there to ask.",
        "Approvals",
    )
    approval_timeout_s: float = setting(
        0,
        "Requests end by themselves",
        "number",
        "A request that nobody answers for this long is denied. 0: it waits until you answer.",
        "Approvals",
        minimum=0,
        maximum=86_400,
        unit="seconds",
        zero="Never",
    )

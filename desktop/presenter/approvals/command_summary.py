"""What a shell command comes to, in a line that never scrolls away: how many commands, how grave, which hosts, what
outside the workspace (R-PRM-2). Counted from the judgements that the request carries, all of them."""

from __future__ import annotations

import os

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words

GRAVITY = ("privileged", "deletes", "unknown", "network", "writes", "reads")
"""The gravest first; what nobody can tell is graver than what is known to be small."""
MAX_JUDGED = 100
"""As many parts as a reading judges at most."""
NAMED = 3


@dataclass(frozen=True, slots=True)
class CommandSummary:
    """What a command does in a few words. ``kinds``: what it does, the gravest first, mere reading only where there is
    nothing else. ``outside``: what its parts that do more than read name outside the folder it runs in."""

    count: str
    kinds: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    def sentence(self, named: int = NAMED) -> str:
        """Hosts and files, as many of each as ``named``; "" for none."""
        parts = []
        for words, found in (("reaches", self.hosts), ("touches outside the workspace:", self.outside)):
            if found:
                more = f" and {len(found) - named:,} more" if len(found) > named else ""
                parts.append(f"{words} {', '.join(found[:named])}{more}")
        text = "; ".join(parts)
        return text[:1].upper() + text[1:]


def summarise_command(request: PermissionRequest) -> CommandSummary | None:
    """The summary of a shell command; None for any other call."""
    if request.preview.get("kind") != "command":
        return None
    judged = request.judgements
    if not judged:
        return CommandSummary("Not readable part by part", ("unknown",))
    count = count_words(len(judged), "command") if len(judged) < MAX_JUDGED else f"{MAX_JUDGED} commands or more"
    found = {one.effect for one in judged}
    kinds = tuple(kind for kind in GRAVITY if kind in found) + tuple(sorted(found.difference(GRAVITY)))
    if len(kinds) > 1:
        kinds = tuple(kind for kind in kinds if kind != "reads")
    cwd = str(request.preview.get("cwd", ""))
    hosts: dict[str, None] = {}
    outside: dict[str, None] = {}
    for one in judged:
        for touched in one.touches:
            if not os.path.isabs(touched):
                hosts.update({touched: None} if os.sep not in touched else {})
            elif one.effect != "reads" and not _within(touched, cwd):
                outside[touched] = None
    return CommandSummary(count, kinds, tuple(hosts), tuple(outside))


def _within(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(folder.rstrip(os.sep) + os.sep))

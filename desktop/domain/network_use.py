"""Whether a shell command gets the network, and what its request says of it (D-4).

What a command needs is read off its text, so the request names it and the answer holds for exactly that; what nobody
can tell runs without, unless a person ticks it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from desktop.domain.safety import ConfinementKind, NetworkMode, ShellReading

MAX_HOSTS = 20
_UNCLEAR = ("unknown", "privileged")


@dataclass(frozen=True, slots=True)
class NetworkUse:
    """``on``: it has the network once it is allowed; ``asked``: because the command needs it, not because the settings
    say so; ``offered``: a person may give it. ``hosts``: where to, as far as the text says."""

    on: bool
    asked: bool = False
    offered: bool = False
    hosts: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What the request says."""
        if self.asked:
            to = f": {', '.join(self.hosts[:3])}" if self.hosts else "; which hosts shows only when it runs"
            more = f" and {len(self.hosts) - 3} more" if len(self.hosts) > 3 else ""
            return f" It uses the network{to}{more}. Allowing it opens the network for this command alone."
        if self.offered:
            return " The network is off: what this command does cannot be told from its text."
        return f" The network is {'on' if self.on else 'off'}."

    @property
    def preview(self) -> dict[str, Any]:
        """The part of a request that says it, to which the answer is bound."""
        return {
            "network": self.on, "network_asked": self.asked, "network_offered": self.offered, "hosts": list(self.hosts),
        }  # fmt: skip


def network_of(mode: NetworkMode, reading: ShellReading, kind: ConfinementKind) -> NetworkUse:
    """For a command that was read, where ``kind`` holds it. Where nothing does, nothing can be opened."""
    if mode != "as asked" or kind == "none":
        return NetworkUse(mode == "always" or kind == "none")
    if reading.uses_network:
        return NetworkUse(True, asked=True, hosts=hosts_of(reading))
    unclear = not reading.judgements or any(one.effect in _UNCLEAR for one in reading.judgements)
    return NetworkUse(False, offered=unclear)


def hosts_of(reading: ShellReading) -> tuple[str, ...]:
    """The hosts that its parts name."""
    named = (touched for one in reading.judgements for touched in one.touches if not os.path.isabs(touched))
    return tuple(dict.fromkeys(name for name in named if os.sep not in name))[:MAX_HOSTS]

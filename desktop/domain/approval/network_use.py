"""Whether a shell command gets the network, and what its request says of it (D-4).

What a command needs is read off its text, so the request names it and the answer holds for exactly that; what nobody
can tell runs without, unless a person ticks it.
"""

from __future__ import annotations

from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import ConfinementKind, NetworkMode, ShellReading

MAX_HOSTS = 20
_UNCLEAR = ("unknown", "privileged")


@dataclass(frozen=True, slots=True)
class NetworkUse:
    """``on``: it has the network once it is allowed; ``asked``: because the command needs it, not because the settings
    say so; ``offered``: a person may give it. ``hosts``: where to, as far as the text says; ``all_known``: it says all;
    ``astray``: why it may go elsewhere, as sentences.
    """

    on: bool
    asked: bool = False
    offered: bool = False
    hosts: tuple[str, ...] = ()
    all_known: bool = True
    astray: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What the request tells a person about the network."""
        if self.asked:
            why = "".join(f" {one[:1].upper()}{one[1:]}." for one in self.astray)
            return f" It uses the network{self._to}.{why} Allowing it opens the network for this command alone."
        if self.offered:
            return " The network is off: what this command does cannot be told from its text."
        return f" The network is {'on' if self.on else 'off'}."

    @property
    def _to(self) -> str:
        if not self.hosts:
            return "; with which computers it talks is not in its text"
        more = f" and {len(self.hosts) - 3} more" if len(self.hosts) > 3 else ""
        others = "" if self.all_known else ", and perhaps others that are not in its text"
        return f": {', '.join(self.hosts[:3])}{more}{others}"

    @property
    def preview(self) -> dict[str, Any]:
        """The part of a request that says it, to which the answer is bound."""
        return {
            "network": self.on,
            "network_asked": self.asked,
            "network_offered": self.offered,
            "hosts": list(self.hosts),
        }


def network_of(mode: NetworkMode, reading: ShellReading, kind: ConfinementKind) -> NetworkUse:
    """For a command that was read, where ``kind`` holds it. Where nothing does, nothing can be opened."""
    if mode != "as asked" or kind == "none":
        return NetworkUse(mode == "always" or kind == "none")
    if reading.uses_network:
        all_known = reading.hosts_known and len(reading.hosts) <= MAX_HOSTS
        hosts = reading.hosts[:MAX_HOSTS]
        return NetworkUse(True, asked=True, hosts=hosts, all_known=all_known, astray=reading.astray)
    unclear = any(one.effect in _UNCLEAR for one in reading.judgements) or not reading.judgements
    return NetworkUse(False, offered=unclear or reading.may_need_network)

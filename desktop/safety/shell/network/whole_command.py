"""Whether a whole command uses the network, or may, and with whom it talks (D-4)."""

from __future__ import annotations

from dataclasses import field
from typing import TypedDict

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.network.hosts import Hosts, hosts_assigned, hosts_in, hosts_of_command, may_need_network
from desktop.safety.shell.network.own_settings import OwnSettings
from desktop.safety.shell.programs.options import NET_FILES
from desktop.safety.shell.programs.wrappers import Unwrapped
from desktop.safety.shell.syntax.commands import SimpleCommand
from desktop.safety.shell.syntax.words import Word

_MAX_SAID = 3


class NetworkReading(TypedDict):
    """What a ``ShellReading`` says about the network."""

    uses_network: bool
    may_need_network: bool
    hosts: tuple[str, ...]
    hosts_known: bool
    astray: tuple[str, ...]


@dataclass(slots=True)
class Talk:
    """While its parts are read. ``own``: what its programs read of their own; ``unclear``: a part is not known to do
    without the network; ``_read``: the hosts of commands, by the number of folders that they may be in."""

    own: OwnSettings
    network: bool = False
    unclear: bool = False
    hosts: Hosts = field(default_factory=Hosts)
    _read: dict[tuple[tuple[Word, ...], int], Hosts] = field(default_factory=dict)

    def hosts_of(self, words: tuple[Word, ...]) -> Hosts:
        """Those that one command names, where it may be by now. Not to be changed."""
        key = (words, len(self.own.folders))
        found = self._read.get(key)
        if found is None:
            found = self._read[key] = hosts_of_command(words, self.own)
        return found

    def take(self, command: SimpleCommand, unwrapped: Unwrapped, kind: str) -> None:
        """Add one more part of the command. ``kind`` as in Judgement."""
        network = kind == "network" or any(":" in word.text and hosts_in(word) for word in command.words)
        for words in (unwrapped.innermost, *(nested.innermost for _, nested in unwrapped.below())):
            found = self.hosts_of(words)
            self.hosts.because += found.because
            self.hosts.add(found.names)
            self.hosts.complete &= found.complete or not network
            self.unclear |= may_need_network(words, kind)
        for word in (*command.assignments, *command.words):
            if "=" in word.text and not word.text.startswith("-"):
                self.hosts.add(hosts_assigned(word))
        for item in command.redirects:
            if item.target.known.startswith(NET_FILES):
                self.hosts.add([item.target.known.split("/")[3]])
        self.network = self.network or network

    @property
    def reading(self) -> NetworkReading:
        """The reading of the whole command, once all of its parts are read."""
        known = self.hosts.complete and not self.unclear
        return NetworkReading(
            uses_network=self.network,
            may_need_network=self.unclear,
            hosts=tuple(self.hosts.names),
            hosts_known=known,
            astray=tuple(dict.fromkeys(self.hosts.because))[:_MAX_SAID],
        )

"""How grave a call is, and what its parts do: judged anew before each call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from desktop.domain.loading.lazy_dataclass import dataclass


class Category(StrEnum):
    """Who has to agree: ``read`` runs, ``write`` asks each time, ``admin`` asks and is never remembered."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        """read 0, write 1, admin 2; categories are only ever raised (R-TOOL-4)."""
        return ("read", "write", "admin").index(self.value)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One part of a call judged before it runs: for a shell command, one sub-command.

    ``effect`` is reads | writes | deletes | network | privileged | unknown; ``operator`` is what joins it to the
    part before (``|``, ``&&``, ``;``), ``touches`` the resolved paths or hosts.
    """

    text: str
    effect: str
    operator: str = ""
    touches: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One command of a shell command, as rules about ``command`` compare it (R-PRM-11)."""

    text: str
    """Its words as a shell would have to be given them, single blanks between."""
    spellings: tuple[str, ...] = ()
    """Other texts of the same command, tried by rules that ask or deny."""
    hidden: str = ""
    """Half a sentence why no rule can cover it (a word that only running shows, a file that it writes through a
    redirection), or ""."""
    said: tuple[str, ...] = ()
    """Options by which it does more than its name says, or that no table of the program has, such as ``--output``: only
    a rule that names them covers it."""
    assigns: tuple[str, ...] = ()
    """The assignments in front of it and of ``text``: covered only by rules that write ``NAME=``."""
    hosts: tuple[str, ...] = ()
    """The computers that it names, and options (``-L``) that send it on to others; a rule that names one covers it only
    if it names all of them."""
    astray: tuple[str, ...] = ()
    """Why it may go to others all the same, because of what does not stand in it (a proxy in ``~/.curlrc``); no rule
    that names a host covers it then."""

    @property
    def command(self) -> str:
        """The text without the assignments."""
        return self.text[sum(len(one) + 1 for one in self.assigns) :]

    def behind(self, assigned: Sequence[str]) -> CommandPart:
        """The same with these assignments in front: variables that it gets although its own text sets none."""
        if not assigned:
            return self
        text = " ".join((*assigned, self.text))
        return replace(self, text=text, spellings=(*self.spellings, self.text), assigns=(*assigned, *self.assigns))

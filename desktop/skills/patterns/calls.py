"""A call as patterns are compared with it: the one comparison for trust rules, the lists of jobs and allowed tools.

Arguments are compared as ``constraints`` says, but for a command: each of its parts is compared by itself, where the
tool's reader has taken it apart (``CallFacts.parts``). To allow, every part has to be covered; to ask or deny, any part
in any spelling is enough, and so is the whole line. A constraint without wildcards that is the whole line, letter by
letter, allows it as it stands, for nothing in it can be another than the person saw, but where settings of a program's
own send it to other computers than it names (``CommandPart.astray``). An argument that another program
will take for a command and that nobody has taken apart is covered by no star that could reach over what joins commands.

In an address a star of a pattern that asks or denies stands for any text, slashes too: ``*secret*`` is meant wherever
it stands. One that allows stays between slashes, for ``https://*.a.example/`` must not fit the path of another host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.approval.judgement import CommandPart
from desktop.skills.patterns.commands import ARGUMENT, command_glob
from desktop.skills.patterns.constraints import ConstraintCheck, address_spellings, texts_of
from desktop.skills.patterns.index import PatternRule

COMMAND_LINES = frozenset("command cmd commandline command_line script shell shell_command code".split())
_JOINS = re.compile(r"[;&|`$<>(){}\n\r\\*?!~#]")


class ComparedCall:
    """One call while patterns are held against it. ``resolved``: the arguments that are paths, where they really lead;
    ``params`` the tool's schema, which says what is a path."""

    __slots__ = ("_arguments", "_line", "_params", "parts", "resolved")

    def __init__(
        self,
        arguments: Mapping[str, Any],
        params: Mapping[str, Any],
        parts: Sequence[CommandPart] = (),
        resolved: Mapping[str, str] | None = None,
    ) -> None:
        self._arguments, self._params = arguments, params
        line = arguments.get(ARGUMENT) if parts else None
        self._line = line.strip() if isinstance(line, str) else ""
        self.parts: tuple[CommandPart | None, ...] = tuple(dict.fromkeys(parts)) or (None,)
        self.resolved: Mapping[str, Any] = {**arguments, **resolved} if resolved else arguments

    def allowed_by(self, rule: PatternRule, part: CommandPart | None) -> bool:
        """Whether it fits in full."""
        return all(self._covers(check, part) for check in rule.checks)

    def denied_by(self, rule: PatternRule, part: CommandPart | None) -> bool:
        """Whether a piece of everything that the pattern looks at fits."""
        return all(self._meets(check, part) for check in rule.checks)

    def _covers(self, check: ConstraintCheck, part: CommandPart | None) -> bool:
        if part is not None and check.name == ARGUMENT:
            glob = command_glob(check.glob_text)
            return glob.covers(part) or (bool(glob.literal) and glob.literal == self._line and not part.astray)
        return check.allows(self.resolved, self._params) and (check.is_literal or not self._holds_more(check.name))

    def _meets(self, check: ConstraintCheck, part: CommandPart | None) -> bool:
        if part is not None and check.name == ARGUMENT:
            glob = command_glob(check.glob_text)
            return glob.meets(part) or glob.fits(self._line)
        if check.denies(self.resolved, self._params) or check.denies(self._arguments, self._params):
            return True
        return any(self._reaches(check, arguments) for arguments in (self.resolved, self._arguments))

    @staticmethod
    def _reaches(check: ConstraintCheck, arguments: Mapping[str, Any]) -> bool:
        """Whether it fits an address in which a star stands for any text, slashes too: who keeps ``*secret*`` from
        going out means it wherever it stands, and however it is written."""
        spelled = [one for text in texts_of(arguments, check.name) for one in address_spellings(text)]
        return bool(spelled) and any(map(command_glob(check.glob_text).fits, spelled))

    def _holds_more(self, name: str) -> bool:
        """Whether an argument that another program will take for a shell command holds what a star must not reach over:
        nobody has taken it apart."""
        value = self._arguments.get(name)
        return name.casefold() in COMMAND_LINES and (not isinstance(value, str) or _JOINS.search(value) is not None)

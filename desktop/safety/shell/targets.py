"""What a command writes: the targets that its words and its redirections name, and why writing there asks as admin."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.network.hosts import hosts_in
from desktop.safety.shell.paths import PathReader, harmless_target
from desktop.safety.shell.programs.blocklist import git_command
from desktop.safety.shell.programs.effects import Effect
from desktop.safety.shell.programs.interpreters import script_of
from desktop.safety.shell.programs.options import NET_FILES
from desktop.safety.shell.syntax.commands import Redirect, SimpleCommand
from desktop.safety.shell.syntax.words import Word, base_name

MAX_FOLDERS = 200
_COPIES = frozenset(("cp", "mv", "rsync", "scp", "install"))
_GIT_LOOKS = frozenset(
    "add commit status diff log show blame ls-files check-ignore check-attr grep rev-parse stage describe".split()
)


@dataclass(slots=True)
class JudgedCommand:
    """One sub-command while it is being judged. ``opaque``: of what it is given, nobody knows what it changes."""

    command: SimpleCommand
    effect: Effect
    touches: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bound: list[str] = field(default_factory=list)
    opaque: bool = False

    def __post_init__(self) -> None:
        kind = self.effect.kind  # before its redirects count
        self.opaque = kind in ("unknown", "deletes", "privileged") or (kind == "writes" and not self.effect.writes)
        self.opaque = self.opaque or self.effect.obeys


class Targets:
    """Looks at the targets of one command's parts; ``note`` gets each reason."""

    def __init__(self, paths: PathReader, note: Callable[[JudgedCommand, str], None]) -> None:
        self._paths = paths
        self._note = note

    def written(self, judged: JudgedCommand) -> None:
        """Targets outside the workspace, and existing files that would be lost (R-BLK-8)."""
        effect = judged.effect
        for word in effect.writes:
            found = self._paths.resolve(word)
            if word.glob:
                found = [*found, *self._paths.expanded(word)]
            if not found and word.dynamic and effect.replaces:
                self._note(judged, "what it overwrites shows only when it runs")
            for path in found:
                self._target(path, word, judged)

    def _target(self, path: str, word: Word, judged: JudgedCommand) -> None:
        effect, words = judged.effect, judged.command.words
        judged.touches.append(path)
        judged.bound.append(path)
        self.later(path, judged)
        if self._paths.outside_workspace(path) and not hosts_in(word):
            self._note(judged, f"{path} is outside the workspace")
        if not effect.replaces or harmless_target(path):
            return
        if os.path.isdir(path) and word is effect.writes[0]:
            sources = [w for w in words[1:] if w is not word and not w.text.startswith("-")]
            clashing = [w for w in sources if w.split or os.path.lexists(os.path.join(path, base_name(w.text)))]
            if clashing:
                self._note(judged, f"it can overwrite files in {path}")
        elif os.path.lexists(path) and (word is effect.writes[0] or word in effect.by_option):
            self._note(judged, f"it overwrites {path}")

    def later(self, path: str, judged: JudgedCommand) -> None:
        """What is written runs without being asked about again."""
        if why := self._paths.runs_later(path):
            self._note(judged, f"{path} runs by itself later: {why}")

    def given(self, judged: JudgedCommand, innermost: Sequence[Word]) -> None:
        """Such places among the words of a command of which nobody knows what it changes, and of one that gives them
        another name; and such names in a folder that is copied or moved. A script that is run, by its name or by an
        interpreter's, is not one of them: skills of other apps lie in such places."""
        name = base_name(innermost[0].text) if innermost else ""
        run, script = (innermost[0], script_of(innermost)) if innermost else (None, None)
        words = [word for word in judged.command.words[1:] if word is not run and word is not script] if run else []
        unseen = judged.opaque or judged.effect.kind == "network"
        if (unseen and not _only_looks(name, innermost)) or name in ("ln", "link", "mount"):
            for path in [path for word in words for path in self._paths.leads(word)]:
                self.later(path, judged)
        if name in _COPIES and judged.effect.writes:
            sources = [path for word in words for path in self._paths.resolve(word) if os.path.isdir(path)]
            for target in [path for word in judged.effect.writes for path in self._paths.resolve(word)]:
                for source in dict.fromkeys(sources):
                    self._copied(source, target, judged)

    def _copied(self, source: str, target: str, judged: JudgedCommand) -> None:
        if source == target:
            return
        seen = 0
        for here, folders, files in os.walk(source):
            seen += 1 + len(files) // 20
            below = os.path.relpath(here, source)
            for name in (*folders, *files):
                inside = os.path.normpath(os.path.join(below, name))
                for path in (os.path.join(target, inside), os.path.join(target, base_name(source), inside)):
                    if why := self._paths.runs_later(path):
                        self._note(judged, f"{path} runs by itself later: {why}")
                        return
            if seen >= MAX_FOLDERS:
                self._note(judged, f"{source} is too large to be looked through")
                return

    def redirect(self, redirect: Redirect, judged: JudgedCommand) -> None:
        if redirect.feeds_text:
            return
        word = redirect.target
        found = self._paths.resolve(word)
        if redirect.writes and not found:
            self._note(judged, "which file it writes shows only when it runs")
        if redirect.writes:
            for path in found:
                self._written_by(redirect, path, judged)
            return
        judged.touches += found
        if word.known.startswith(NET_FILES):
            judged.effect.kind = "network"
            self._note(judged, "it talks to another computer")

    def _written_by(self, redirect: Redirect, path: str, judged: JudgedCommand) -> None:
        if harmless_target(path):
            return
        judged.touches.append(path)
        judged.bound.append(path)
        if judged.effect.kind in ("reads", "unknown"):
            judged.effect.kind = "writes"
        self.later(path, judged)
        if path.startswith(NET_FILES):
            judged.effect.kind = "network"
            self._note(judged, "it sends data to another computer")
        if self._paths.outside_workspace(path):
            self._note(judged, f"{path} is outside the workspace")
        if os.path.lexists(path) and redirect.operator not in (">>", "&>>"):
            self._note(judged, f"it overwrites {path}")


def _only_looks(name: str, words: Sequence[Word]) -> bool:
    """Whether git, for one, only takes note of the files that it is given."""
    return name == "git" and git_command(words[1:])[0] in _GIT_LOOKS

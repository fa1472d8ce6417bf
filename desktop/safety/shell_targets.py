"""What a command writes: the targets that its words and its redirections name, and why writing there asks as admin."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from desktop.safety.shell_effects import Effect
from desktop.safety.shell_options import NET_FILES
from desktop.safety.shell_paths import PathReader, harmless_target, hosts_in
from desktop.safety.shell_syntax import Redirect, SimpleCommand
from desktop.safety.shell_words import Word, base_name


@dataclass(slots=True)
class Judged:
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


class Targets:
    """Looks at the targets of one command's parts; ``note`` gets each reason."""

    def __init__(self, paths: PathReader, note: Callable[[Judged, str], None]) -> None:
        self._paths = paths
        self._note = note

    def written(self, judged: Judged) -> None:
        """Targets outside the workspace, and existing files that would be lost (R-BLK-8)."""
        effect = judged.effect
        for word in effect.writes:
            found = self._paths.resolve(word)
            if not found and word.dynamic and effect.replaces:
                self._note(judged, "what it overwrites shows only when it runs")
            for path in found:
                self._target(path, word, judged)

    def _target(self, path: str, word: Word, judged: Judged) -> None:
        effect, words = judged.effect, judged.command.words
        judged.touches.append(path)
        judged.bound.append(path)
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

    def redirect(self, redirect: Redirect, judged: Judged) -> None:
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

    def _written_by(self, redirect: Redirect, path: str, judged: Judged) -> None:
        if harmless_target(path):
            return
        judged.touches.append(path)
        judged.bound.append(path)
        if judged.effect.kind in ("reads", "unknown"):
            judged.effect.kind = "writes"
        if path.startswith(NET_FILES):
            judged.effect.kind = "network"
            self._note(judged, "it sends data to another computer")
        if self._paths.outside_workspace(path):
            self._note(judged, f"{path} is outside the workspace")
        if os.path.lexists(path) and redirect.operator not in (">>", "&>>"):
            self._note(judged, f"it overwrites {path}")

"""git's own settings: which files it reads where it works, and whether anything in them leads to another computer than
an address says (D-4). Read as text: no git is started. Fails closed: what is not known to be about no place leads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.syntax.words import Word

_HEADER = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)', re.DOTALL)
_KEY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?", re.DOTALL)
_PATH = re.compile(r"[\w./~@+-]+")
_COMMENT = re.compile(r"\s*(?:[#;].*)?", re.DOTALL)
_HARMLESS = frozenset(
    "user author committer color alias branch commit tag diff merge mergetool difftool pull init log rebase rerere "
    "status pager interactive gpg advice help gui grep blame format column safe stash versionsort sequence notes gc "
    "pack index feature i18n apply am add mailinfo browser man web maintenance repack worktree credential protocol "
    "clone remotes tar guitool showbranch commitgraph multipackindex revert cherry checkout ssh receive uploadpack "
    "sendemail trace2 fsck".split()
)
"""Sections none of whose settings says where git goes when it is given an address."""
_LEADING_KEYS = {
    "core": frozenset(("sshcommand", "gitproxy", "alternaterefscommand")),
    "push": frozenset(("recursesubmodules",)),
    "fetch": frozenset(("recursesubmodules", "bundleuri")),
    "transfer": frozenset(("bundleuri",)),
    "extensions": frozenset(("partialclone",)),
    "submodule": frozenset(("recurse", "url", "active", "update")),
    "remote": frozenset(("promisor", "partialclonefilter", "vcs")),
}
"""Of other sections the settings that do; the rest of them does not."""
_HTTP_HARMLESS = frozenset(
    "sslverify sslbackend sslversion sslcainfo sslcapath sslcert sslkey sslcipherlist postbuffer lowspeedlimit "
    "lowspeedtime version useragent maxrequests minsessions emptyauth delegation noepsv schannelcheckrevoke "
    "schannelusesslcainfo followredirects".split()
)
_MAXIMUM = 64
_ABOVE = 64


@dataclass(slots=True)
class GitSettingsFile:
    """What one file of git's settings says: the first setting that can lead elsewhere, its redirects, the files that it
    includes."""

    leads: str = ""
    redirects: list[str] = field(default_factory=list)
    included: list[str] = field(default_factory=list)


def read_git_settings(text: str) -> GitSettingsFile:
    """Read one file of git's settings. What follows a line that ends with a backslash may belong to its value or be a
    setting, depending on where git saw a comment: both are kept in mind."""
    said, sections, goes_on = GitSettingsFile(), [("", "")], False
    for line in text.split("\n"):
        rest, continued = line.rstrip("\r"), goes_on
        goes_on = rest.endswith("\\")
        started = False
        while (header := _HEADER.fullmatch(rest)) is not None:
            name, _, dotted = header[1].casefold().partition(".")
            section = (name, header[2] or dotted)
            sections = [*sections, section] if continued and not started else [section]
            rest, started = header[3], True
            _look(section, "", None, said)
        key = _KEY.fullmatch(rest)
        if key is not None:
            for section in sections:
                _look(section, key[1].casefold(), key[2], said)
        elif not continued and _COMMENT.fullmatch(rest) is None:
            said.leads = said.leads or rest.strip()[:40]
    return said


def _look(section: tuple[str, str], key: str, value: str | None, said: GitSettingsFile) -> None:
    name, which = section
    shown = f"{name}.{key}" if key else name
    bare = (value or "").strip().strip('"')
    if name in ("include", "includeif"):
        if key == "path" and _PATH.fullmatch(bare):
            said.included.append(bare)
        elif key:
            said.leads = said.leads or shown
        return
    if name == "http" and key == "followredirects":
        said.redirects.append(bare if value is not None else "true")
    if name in _HARMLESS or (name == "http" and (not key or key in _HTTP_HARMLESS)):
        return
    if name in _LEADING_KEYS and key not in _LEADING_KEYS[name] and not (name == "remote" and ":" in which):
        return
    said.leads = said.leads or shown


@dataclass(frozen=True, slots=True)
class GitFiles:
    """Finds and reads the files with git's settings. ``text`` reads one; None where it does not exist."""

    text: Callable[[str], str | None]
    environment: Mapping[str, str]
    homes: tuple[str, ...]
    system: tuple[str, ...]

    def read(self, folders: Sequence[str], given: Sequence[Word]) -> list[tuple[str, str]]:
        """Each file with its text, for git in one of these folders with these words before its sub-command."""
        places, own = self._told(list(folders), given)
        waiting = [path for folder in places for path in _of_repository(folder, self.text)]
        waiting += [path for place in own for path in _in_git_folder(place, self.text)]
        waiting += [f"{home}/.gitconfig" for home in self.homes] + [f"{home}/.config/git/config" for home in self.homes]
        below = self.environment.get("XDG_CONFIG_HOME", "")
        waiting += [f"{below}/git/config"] if below else []
        waiting += [f"{folder}/gitconfig" for folder in self.system]
        found: dict[str, str] = {}
        while waiting:
            path = waiting.pop(0)
            if path in found:
                continue
            text = self.text(path) if len(found) < _MAXIMUM else "[too many files"
            found[path] = text or ""
            for more in read_git_settings(text).included if text else ():
                waiting += self._included(path, more)
        return [(path, text) for path, text in found.items() if text]

    def _included(self, path: str, name: str) -> list[str]:
        if name.startswith("~/"):
            return [home + name[1:] for home in self.homes]
        return [os.path.join(os.path.dirname(path), name)]

    @staticmethod
    def _told(folders: list[str], given: Sequence[Word]) -> tuple[list[str], list[str]]:
        """``-C`` and ``--git-dir``: the folders in which git works, and repositories that it is given."""
        own: list[str] = []
        at = 0
        while at < len(given):
            name, equals, value = given[at].text.partition("=")
            if name in ("-C", "--git-dir") and not equals and at + 1 < len(given):
                at += 1
                value = given[at].text
            if name == "-C":
                folders = [os.path.join(folder, value) for folder in folders]
            elif name == "--git-dir":
                own += [os.path.join(folder, value) for folder in folders]
            at += 1
        return folders, own


def _of_repository(folder: str, text: Callable[[str], str | None]) -> Iterator[str]:
    """The settings of the repository in which a folder lies."""
    for _ in range(_ABOVE):
        inside = os.path.join(folder, ".git")
        if os.path.isdir(inside):
            yield from _in_git_folder(inside, text)
            return
        if (said := text(inside)) is not None and said.startswith("gitdir:"):
            yield from _in_git_folder(os.path.join(folder, said.partition(":")[2].strip()), text)
            return
        if os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects")):
            yield from _in_git_folder(folder, text)
            return
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _in_git_folder(place: str, text: Callable[[str], str | None]) -> Iterator[str]:
    common = text(os.path.join(place, "commondir"))
    for folder in (place, *([os.path.join(place, common.strip())] if common else [])):
        yield os.path.join(folder, "config")
        yield os.path.join(folder, "config.worktree")
        for kind in ("remotes", "branches"):
            try:
                named = [name for name in os.listdir(os.path.join(folder, kind)) if ":" in name]
            except OSError:
                named = []
            yield from (os.path.join(folder, kind, name) for name in named)

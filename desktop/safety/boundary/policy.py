"""The filesystem boundary: which paths tools may read and write.

One function, ``PathPolicy.explain``, answers the gates, the tools at the moment of use, and the tester in the
settings. It asks for the settings and looks at the disk anew each time, so a change counts from the next call
(R-FS-12). Paths are compared by components and, besides, by device and inode, so that a second name for a denied
folder (a bind mount, another case, another spelling) is no way around it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Set
from copy import copy
from functools import cached_property

from desktop.domain.errors import BoundaryViolation
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, PathVerdict, SafetySettings, SettingsProvider
from desktop.safety.boundary import paths
from desktop.safety.boundary.autorun_places import hooks_folder, makes_a_repository, runs_later
from desktop.safety.boundary.disk_snapshot import StatCache
from desktop.safety.boundary.installation import around_it, installation
from desktop.safety.boundary.mounts import MountIds, Mounts
from desktop.safety.boundary.paths import Identity, PathProblem
from desktop.safety.boundary.project import closed_because
from desktop.systems import current

# In the home of the app: never readable by tools, because conversations and logs of other threads are there.
SECRET_NAMES = ("data", "logs")
# In the home of the app: never writable, whatever the lists say and whether or not they exist yet (R-FS-10).
PROTECTED_NAMES = (
    "config.yaml",
    "tools.yaml",
    "mcp.yaml",
    "trust.yaml",
    "jobs.yaml",
    "agents",
    "skills",
    "data",
    "logs",
    "cache",
)
# What starts the app when a person logs in or clicks: writing there would be writing the app's own command line.
STARTERS = (
    "~/.config/autostart/assent.desktop",
    "~/.local/share/applications/assent.desktop",
    "~/Library/LaunchAgents/assent.plist",
)

# Passwords of the screen and of the session: with one a program on the network types into any window.
SCREEN_PASSWORDS = ("~/.Xauthority", "~/.ICEauthority")
_SCREEN_NAMES = ("XAUTHORITY", "ICEAUTHORITY")

_SYSTEM = (
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/boot",
    "/run",
    "/System",
    "/Library",
    "/Applications",
    "/private/etc",
    "C:\\Windows",
    "C:\\Program Files",
    "C:\\Program Files (x86)",
    "C:\\ProgramData",
)
_SYSTEM_UNLESS_OURS = (
    "/var",
    "/opt",
    "/root",
    "/srv",
    "/snap",
    "/private/var/root",
)  # homes and projects live there too
HARD_LINK_SCAN = 5000


@dataclass(frozen=True, slots=True)
class BoundaryRule:
    """One entry of a list: as a person wrote it, and resolved (R-FS-5)."""

    text: str
    resolved: str
    identity: Identity | None

    @classmethod
    def of(cls, text: str, base: str, *, closing: bool = False, moment: StatCache | None = None) -> BoundaryRule | None:
        """The rule of an entry; None where it is no path. A ``closing`` one that cannot be followed, such as a loop of
        links, still closes the path as written."""
        moment = moment or StatCache()
        try:
            resolved = moment.resolve(text, base)
        except PathProblem:
            if not closing:
                return None
            try:
                resolved = os.path.normpath(paths.absolute(text, base))
            except PathProblem:
                return None
        status = moment.status(resolved)
        return cls(text, resolved, None if status is None else paths.identity_of(status))

    @classmethod
    def of_resolved(cls, path: str, moment: StatCache) -> BoundaryRule:
        """The rule for a path that has no links above its last part."""
        status = moment.status(path)
        if status is not None and stat.S_ISLNK(status.st_mode):
            return cls.of(path, os.sep) or cls(path, path, None)
        return cls(path, path, None if status is None else paths.identity_of(status))

    def covers(self, path: str, line: Set[Identity]) -> bool:
        """Whether ``path``, whose existing ancestors have the identities ``line``, is this entry or below it."""
        if paths.is_within(path, self.resolved):
            return True
        if self.identity is not None:
            return self.identity in line
        return paths.spelled_alike(path, self.resolved)


@dataclass(frozen=True)
class Lists:
    """All rules of one moment, resolved; what counts for writing only is looked up when it is asked for."""

    workspace: str
    """Where relative paths start."""
    own_workspace: str
    """The app's own workspace, which a project is not."""
    allowed: tuple[BoundaryRule, ...]
    """The folders that are allowed."""
    granted: tuple[BoundaryRule, ...]
    """The folders opened for this session."""
    denied: tuple[BoundaryRule, ...]
    """The places that are denied."""
    secret: tuple[BoundaryRule, ...]
    """What no tool reads."""
    home: BoundaryRule | None
    """The app's home folder."""
    look_up: Callable[[], tuple[tuple[BoundaryRule, ...], tuple[BoundaryRule, ...]]]
    """Looks up ``protected`` and ``installed`` in the same moment."""
    around: tuple[str, ...] = ()
    """What may be read wherever it lies: the checkout, when Assent runs from one."""

    @cached_property
    def _own(self) -> tuple[tuple[BoundaryRule, ...], tuple[BoundaryRule, ...]]:
        return self.look_up()

    @cached_property
    def second_names(self) -> SecondNames:
        """The other names of files that are closed."""
        return SecondNames((*self.denied, *self.secret))

    @property
    def protected(self) -> tuple[BoundaryRule, ...]:
        """The places that no tool writes, whatever is allowed."""
        return self._own[0]

    @property
    def installed(self) -> tuple[BoundaryRule, ...]:
        """The folders of the app's program."""
        return self._own[1]


class BoundaryPolicy:
    """Implements ``domain.safety.PathPolicy``. ``home`` is the app's own folder (AGENT_HOME), ``installed`` where its
    program lies."""

    def __init__(self, home: str, settings: SettingsProvider, installed: tuple[str, ...] | None = None) -> None:
        self._home = os.path.abspath(os.path.expanduser(home))
        self._settings = settings
        self._installed = installation() if installed is None else installed
        self._around = around_it() if installed is None else ()
        self._mounts = MountIds()

    def within(self, place: WorkPlace) -> BoundaryPolicy:
        """The boundary of calls that are made there: a project's folder is open to them, and where they start."""
        if not place.project:
            return self
        made = copy(self)
        made._settings = lambda: self._settings().within(place)
        return made

    def lists(self, moment: StatCache | None = None) -> Lists:
        """The rules in force now."""
        settings, moment = self._settings(), moment or StatCache()
        base = workspace_of(settings)

        def rules(entries: tuple[str, ...], *, closing: bool = False) -> tuple[BoundaryRule, ...]:
            found = (BoundaryRule.of(entry, base, closing=closing, moment=moment) for entry in entries)
            return tuple(rule for rule in found if rule is not None)

        home = moment.real(self._home)

        def own(names: tuple[str, ...]) -> tuple[BoundaryRule, ...]:
            return tuple(BoundaryRule.of_resolved(os.path.join(home, name), moment) for name in names)

        def look_up() -> tuple[tuple[BoundaryRule, ...], tuple[BoundaryRule, ...]]:
            protected = (*own(PROTECTED_NAMES), *rules(STARTERS, closing=True))
            return protected, tuple(BoundaryRule.of_resolved(path, moment) for path in self._installed)

        return Lists(
            workspace=moment.real(base),
            own_workspace=moment.real(workspace_of(settings, own=True)),
            allowed=(*self._project(settings, moment), *rules(settings.allowed)),
            granted=rules(settings.granted),
            denied=rules((*settings.denied, *screen_passwords()), closing=True),
            secret=own(SECRET_NAMES),
            home=BoundaryRule.of_resolved(home, moment),
            look_up=look_up,
            around=self._around,
        )

    def roots(self) -> list[str]:
        """Where the allowed folders really are, those of a grant included."""
        settings, moment = self._settings(), StatCache()
        base = workspace_of(settings)
        found = (BoundaryRule.of(entry, base, moment=moment) for entry in (*settings.allowed, *settings.granted))
        return [rule.resolved for rule in (*self._project(settings, moment), *found) if rule is not None]

    def _project(self, settings: SafetySettings, moment: StatCache) -> tuple[BoundaryRule, ...]:
        """The project as an allowed folder, as long as it is the folder that was chosen."""
        project = settings.project
        if not project or self._project_closed(settings, moment):
            return ()
        status = moment.status(project)
        return (BoundaryRule(project, project, None if status is None else paths.identity_of(status)),)

    def _project_closed(self, settings: SafetySettings, moment: StatCache) -> str:
        """Why the project opens nothing now, or "". Of the app's own folder only its workspace can be one, and nothing
        of its program: what is inside an allowed folder a command may write, unless it is closed by itself."""
        project = settings.project
        if why := closed_because(project, moment):
            return why
        if paths.is_within(project, moment.real(workspace_of(settings, own=True))):
            return ""
        ours = (self._home, *self._installed)
        return "belongs to Assent itself" if any(paths.is_within(project, moment.real(one)) for one in ours) else ""

    def _lost(self, settings: SafetySettings, path: str, moment: StatCache) -> str:
        """Why a path of the project leads nowhere, or "": without its folder it means no other place."""
        project = settings.project
        if not project or not path or not paths.is_within(os.path.normpath(path), project):
            return ""
        why = self._project_closed(settings, moment)
        return f"the project folder {project} {why}" if why else ""

    def explain(
        self, path: str, access: Access, moment: StatCache | None = None, lists: Lists | None = None
    ) -> PathVerdict:
        """Judge a path (R-FS-1..7, R-FS-10, R-FS-13). Never raises for what the path says. ``moment``, if not now, and
        the ``lists`` of then, for what judges many paths at once."""
        settings, moment = self._settings(), moment or StatCache()
        relative = not os.path.isabs(path) and not path.startswith("~")
        if why := self._lost(settings, settings.project if relative else "", moment):
            return PathVerdict(False, path, "", "outside", f"Permission denied: {why}.", access)
        try:
            resolved = moment.resolve(path, workspace_of(settings))
        except PathProblem as problem:
            shown = path[:200]
            return PathVerdict(
                False, path, "", "malformed", f"Permission denied: the path {shown!r} {problem}.", access
            )
        return self.judge(path, resolved, access, moment, lists)

    def judge(
        self, given: str, resolved: str, access: Access, moment: StatCache | None = None, lists: Lists | None = None
    ) -> PathVerdict:
        """Judge a path that is resolved already, as ``explain``."""
        moment = moment or StatCache()
        lists, line, status = lists or self.lists(moment), moment.line(resolved), moment.status(resolved)
        identity = "absent" if status is None else paths.describe_identity(status)
        rule, why = self._refusal(lists, resolved, line, status, access)
        if why:
            return PathVerdict(False, given, resolved, rule, f"Permission denied: {why}.", access, identity=identity)
        allowing = _covering(lists.allowed, resolved, line)
        granting = None if allowing else _covering(lists.granted, resolved, line)
        found = allowing or granting
        if found is None:
            names = ", ".join(rule.text for rule in (*lists.allowed, *lists.granted)) or "none"
            why = f"{resolved} is outside the allowed folders ({names})"
            why = self._lost(self._settings(), given, moment) or why
            return PathVerdict(
                False, given, resolved, "outside", f"Permission denied: {why}.", access, identity=identity
            )
        if door := self._door(lists, resolved, found):
            why = f"{resolved} is mounted from {door}, outside the allowed folders"
            return PathVerdict(
                False, given, resolved, "outside", f"Permission denied: {why}.", access, identity=identity
            )
        elevated = f"only the grant for this session ({found.text}) allows it" if granting else ""
        if access is Access.WRITE:
            elevated = elevated or elevated_write(resolved, lists.workspace, lists.own_workspace)
        sentence = f"{resolved} is inside the allowed folder {found.text}."
        return PathVerdict(True, given, resolved, f"allowed {found.text}", sentence, access, elevated, identity)

    def require(self, path: str, access: Access) -> PathVerdict:
        """The verdict, or BoundaryViolation with its sentence."""
        verdict = self.explain(path, access)
        if not verdict.allowed:
            raise BoundaryViolation(verdict.sentence)
        return verdict

    def _refusal(
        self, lists: Lists, resolved: str, line: Set[Identity], status: os.stat_result | None, access: Access
    ) -> tuple[str, str]:
        """The rule that forbids the path and why, or two empty strings. Denied wins over allowed (R-FS-3)."""
        if denied := _covering(lists.denied, resolved, line):
            return f"denied {denied.text}", f"{resolved} is inside the denied path {denied.text}"
        if secret := _covering(lists.secret, resolved, line):
            return f"protected {secret.resolved}", f"{resolved} holds Assent's own conversations and logs"
        if kind := paths.special_kind(resolved, status.st_mode if status else None):
            return "special file", f"{resolved} is {kind}"
        if access is Access.WRITE and (own := self._protected(lists, resolved, line)):
            return f"protected {own}", f"{resolved} belongs to Assent itself and is changed only in its windows"
        if access is Access.WRITE and (part := _covering(lists.installed, resolved, line)):
            return f"protected {part.resolved}", f"{resolved} is part of Assent's own program, which no tool changes"
        if other := lists.second_names.entry_of(status):
            return f"denied {other}", f"{resolved} is another name of a file in {other}"
        return "", ""

    def _door(self, lists: Lists, resolved: str, found: BoundaryRule) -> str:
        """Where else a path lies that is on another mount than its allowed folder, where that is outside; or "". A file
        system of its own that is mounted nowhere else lies where it is seen."""
        if self._mounts.of_path(resolved) == self._mounts.of_path(found.resolved):
            return ""
        mounts, rules = Mounts(), (*lists.allowed, *lists.granted)
        here = resolved
        while not os.path.lexists(here):
            here = os.path.dirname(here)
        return next((n for n in mounts.names(here) if not any(paths.is_within(n, rule.resolved) for rule in rules)), "")

    def _protected(self, lists: Lists, resolved: str, line: Set[Identity]) -> str:
        """The app's own path that ``resolved`` would change, or "". Everything in the home is its own, but for the
        workspace where that is a real folder below it and none of the app's."""
        if own := _covering(lists.protected, resolved, line):
            return own.resolved
        if lists.home is None or not lists.home.covers(resolved, line):
            return ""
        workspace, home = lists.own_workspace, lists.home.resolved
        if workspace != home and paths.is_within(workspace, home) and paths.is_within(resolved, workspace):
            return ""
        return home


def screen_passwords() -> tuple[str, ...]:
    """Denied whatever the settings say, also where the environment of this session has them elsewhere."""
    named = (os.environ.get(name, "") for name in _SCREEN_NAMES)
    return (*SCREEN_PASSWORDS, *(path for path in named if os.path.isabs(path)))


def workspace_of(settings: SafetySettings, *, own: bool = False) -> str:
    """The workspace as an absolute path, links not followed; ``own``: the app's, where that is a project."""
    return os.path.abspath(os.path.expanduser((own and settings.app_workspace) or settings.workspace))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _covering(rules: tuple[BoundaryRule, ...], path: str, line: Set[Identity]) -> BoundaryRule | None:
    for rule in rules:
        if rule.covers(path, line):
            return rule
    return None


def only_granted(settings: SafetySettings, found: Iterable[str], project: str = "") -> str:
    """The first of these resolved paths that nothing but a folder opened for this session allows, or "". Blocks."""
    settings = settings.within(WorkPlace(project))
    if not settings.granted:
        return ""
    base, moment = workspace_of(settings), StatCache()
    allowed, granted = (
        tuple(rule for entry in entries if (rule := BoundaryRule.of(entry, base, moment=moment)) is not None)
        for entries in (settings.allowed, settings.granted)
    )
    if project and not closed_because(project, moment):
        allowed = (*allowed, BoundaryRule.of_resolved(project, moment))
    for path in found:
        line = paths.existing_identities(path)
        if _covering(granted, path, line) is not None and _covering(allowed, path, line) is None:
            return path
    return ""


class SecondNames:
    """The files in some folders that have other names besides (hard links), looked for once when first asked. A folder
    with more than 5,000 files is not searched to its end: then every file with several names counts as found, because
    it cannot be ruled out.

    What can be held at the handle: a file with one name is no second name; one with several is refused where another of
    them may be denied, by device and inode, which opening compares again. Who owns a file says nothing, for all are the
    person's. Writing makes a new file in the place of the name, so no other name of the old one changes. A confined
    process cannot make a second name of what it may not write (other mounts, or Landlock's refer right); those that
    were there before are hidden or sealed as far as ``SystemConfinement.profile`` searches.
    """

    def __init__(self, rules: tuple[BoundaryRule, ...]) -> None:
        self._rules = rules
        self._found: dict[Identity, str] | None = None
        self._unsearched = ""

    def entry_of(self, status: os.stat_result | None) -> str:
        """The entry in whose folders this file has another name, or ""."""
        if status is None or not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
            return ""
        if self._found is None:
            self._found = self._search()
        return self._found.get(paths.identity_of(status), self._unsearched)

    def _search(self) -> dict[Identity, str]:
        found: dict[Identity, str] = {}
        for rule in self._rules:
            for seen, (folder, name) in enumerate(_files_below(rule.resolved)):
                status = _status(os.path.join(folder, name))
                if status is not None and status.st_nlink > 1:
                    found.setdefault(paths.identity_of(status), rule.text)
                if seen >= HARD_LINK_SCAN:
                    self._unsearched = self._unsearched or rule.text
                    break
        return found


def _files_below(folder: str) -> Iterator[tuple[str, str]]:
    """Files of a folder and those below it; a denied entry that is a file is its own only one."""
    if not os.path.isdir(folder):
        yield os.path.split(folder)
    for here, _, names in os.walk(folder):
        for name in names:
            yield here, name


def elevated_write(resolved: str, workspace: str, beside: str = "") -> str:
    """Why writing here is admin although it is allowed, or "" (R-TOOL-4). ``beside``: another workspace, whose hooks
    count as well."""
    home = StatCache().real(os.path.expanduser("~"))
    for root in _SYSTEM:
        if paths.is_within(resolved, root, fold=current.WINDOWS):
            return f"{root} is a system path"
    ours = any(paths.is_within(resolved, own) and len(paths.parts_of(own)) > 1 for own in (home, workspace))
    for root in _SYSTEM_UNLESS_OURS:
        if not ours and paths.is_within(resolved, root):
            return f"{root} is a system path"
    hooks = (hooks_folder(one) for one in dict.fromkeys((workspace, beside)) if one)
    if any(place and paths.is_within(resolved, place) for place in hooks):
        return "git runs the hooks of this project from here"
    return runs_later(resolved, workspace, home) or makes_a_repository(resolved)

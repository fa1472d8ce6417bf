"""Places whose files run by themselves later: when git is used, a shell starts, a folder is opened, somebody logs in,
Assent looks for agents and skills.

Writing there is more than writing: it is always asked about as admin, by whatever tool (R-TOOL-4, R-BLK-8).
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.systems import current
from desktop.systems.windows_names import as_posix

_GIT = "files in .git can run code when git is used"
_START = "this file is run or read at login or by other programs"
_FILES = {
    "a shell or a program that reads it runs what it says": (
        ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin "
        ".zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .xprofile .xsession .xsessionrc .xinitrc .xserverrc "
        ".inputrc .vimrc .gvimrc .exrc .nvimrc .nvim.lua "
        ".lvimrc .vimrc.local .local.vimrc .ideavimrc .emacs .dir-locals.el .dir-locals-2.el .gdbinit .lldbinit "
        ".pdbrc .rdbgrc .byebugrc .bash_completion .forward .procmailrc .pdbrc.py .pythonrc .pythonrc.py .irbrc .pryrc "
        ".rprofile "
        ".renviron .psqlrc .mysqlrc .sqliterc .mailcap .curlrc .wgetrc "
        ".tmux.conf .screenrc .gitconfig .hgrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs .pypirc "
        ".pam_environment .envrc .rtx.toml .autoenv .env.fish .mcp.json .lesskey .digrc .ackrc "
        ".ripgreprc .bazelrc .buckconfig .ansible.cfg .netrc .rvmrc .guile .clisprc .sbclrc .ghci .octaverc .sandboxrc"
    ).split(),
    "it is run on every commit": (
        ".pre-commit-config.yaml prek.toml .huskyrc .huskyrc.json .huskyrc.js .lintstagedrc "
        ".lintstagedrc.json .lintstagedrc.js .overcommit.yml"
    ).split(),
    "Windows shows its folder as it says, or runs what it names": ["desktop.ini", "autorun.inf"],
    "every Python runs it when it starts": ["sitecustomize.py", "usercustomize.py"],
    "an editor runs what is in it": [".devcontainer.json"],
    "an agent's program runs what is in it": ["opencode.json", "opencode.jsonc", "crush.json", ".crush.json"],
}
_FOLDERS = {
    "git runs what is in it": ".husky .githooks .git-hooks .trunk",
    "another version control runs what its settings say": ".hg .sl .jj .bzr .pijul _darcs",
    "an editor runs what is in it": (
        ".vscode .vscode-server .idea .fleet .zed .devcontainer .vim .emacs.d .claude .cursor .windsurf .codex .gemini "
        ".nvim .helix .lapce .nova .theia"
    ),
    "an agent's program runs what is in it": ".opencode .crush .qwen .kiro .roo .amazonq .continue .factory .junie",
    "a shell or a program runs what is in it": ".direnv .cargo .ssh .gnupg .bashrc.d .zsh .oh-my-zsh .ipython .mise "
    ".asdf",
}
_NAMES = {name: why for why, names in _FILES.items() for name in names} | {
    name: why for why, names in _FOLDERS.items() for name in names.split()
}
_BELOW = lazy_pattern(
    r"/\.config/(?:autostart|autostart-scripts|systemd|fish|environment\.d|git|nvim|vim|emacs|plasma-workspace|pip|npm|"
    r"direnv|mise|tmux|zsh|bash|i3|sway|hypr|openbox|code|kitty|alacritty|wezterm|powershell|gdb|user-tmpfiles\.d|upstart)"
    r"(?:/|$)"
    r"|/\.local/(?:bin|lib|share/(?:applications|systemd|dbus-1|autostart|nvim|kservices5|nautilus))(?:/|$)"
    r"|/library/(?:launchagents|launchdaemons|startupitems|scripts)(?:/|$)"
    r"|/\.kde4?/(?:autostart|env)(?:/|$)"
    r"|/(?:site|dist)-packages/[^/]+\.pth$"
    r"|/(?:spool|etc|var)/(?:cron|anacron|at|periodic)[^/]*(?:/|$)|/start menu/programs/startup(?:/|$)"
    r"|/(?:user|system)/[^/]+\.(?:service|timer|socket|path)$"
    r"|/(?:windows)?powershell/[^/]*profile\.ps1$|/appdata/roaming/microsoft/(?:addins|excel/xlstart|word/startup)/"
    r"|/(?:microsoft/)?windows terminal/settings\.json$|/system32/tasks/|/gpt\.ini$"
)
_AGENTS = lazy_pattern(r"/\.agents?/(?:agents|skills)(?:/|$)")
_HOOK = lazy_pattern(
    r"/hooks/(?:(?:pre|post)-[a-z-]+|applypatch-msg|commit-msg|prepare-commit-msg|update|fsmonitor-watchman|"
    r"push-to-checkout|reference-transaction|proc-receive|sendemail-validate)$"
)
_PLACES = (
    (_HOOK, "git runs hooks by themselves"),
    (_AGENTS, "Assent takes agents and skills from there"),
    (_BELOW, _START),
)
_KINDS = {
    "it is run on every commit": lazy_pattern(r"/\.?lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$"),
    "a shell or a program that reads it runs what it says": lazy_pattern(r"/\.?mise(?:\.[\w-]+)*\.toml$"),
    "an editor runs what is in it": lazy_pattern(r"\.(?:code-workspace|sublime-project)$"),
}
_MAYBE = lazy_pattern(
    r"/(?:[._](?!cache)|hooks/|library/|startup|user/|system/|mise\.|prek\.toml|opencode\.json|crush\.json)"
    r"|desktop\.ini$|autorun\.inf$|profile\.ps1$|/appdata/|windows terminal|/system32/|/gpt\.ini$"
    r"|customize\.py|\.pth$|lefthook|\.(?:code-workspace|sublime-project)$|cron"
)
_DATA_OF_GIT = lazy_pattern(
    r"/\.git/(?:index(?:\.lock)?|[A-Z]+_(?:HEAD|EDITMSG|MSG|MODE)|AUTO_MERGE|HEAD|packed-refs|logs(?:/HEAD)?"
    r"|(?:logs/)?refs(?:/(?:heads|tags|remotes|notes|stash)(?:/(?!\.|(?:config|commondir|hooks)\b)[^/]+)*)?"
    r"|objects(?:/[0-9a-f]{2}(?:/[0-9a-f]+)?|/pack(?:/pack-[0-9a-f]+\.(?:pack|idx|rev))?)?)?$"
)
_HOOKS_PATH = lazy_pattern(r"^\s*hookspath\s*=\s*\"?([^\"\n#;]+)", re.IGNORECASE | re.MULTILINE)
_AT_HOME = ("bin/", ".local/bin/", ".local/lib/")
_MAXIMUM = 64_000


def runs_later(path: str, workspace: str, home: str, *, windows: bool = current.WINDOWS) -> str:
    """Why what is written at this resolved path runs by itself later, or "". Names count in any spelling; those above
    the workspace do not by themselves, for there the person has put it."""
    if windows:  # the same names, in paths with the other slash
        path, workspace, home = (as_posix(one) for one in (path, workspace, home))
    folded = path.casefold()
    known = len(workspace) if path.isascii() and path.startswith(f"{workspace}/") and _is_quiet(workspace) else 0
    if _MAYBE.search(folded, known) is None and not path.startswith(home):
        return ""
    if "/.git/" in f"{folded}/":
        return _GIT
    inside = path != workspace and path.startswith(f"{workspace.rstrip('/')}/")
    own = path[len(workspace) :].casefold() if inside else folded
    if _at_home(path, home) and not (inside and _at_home(workspace, home)):
        return _START
    if why := _beyond(folded, len(folded) - len(own)):
        return why
    if _MAYBE.search(own) is None:
        return ""
    for name in own.split("/"):
        if name in _NAMES:
            return _NAMES[name]
    return next((why for why, kind in _KINDS.items() if kind.search(own)), "")


def _beyond(path: str, workspace: int) -> str:
    """Why a place counts by several names one after the other, the last of them below the workspace, which ends at
    this letter: in a workspace ``.config`` a file of ``autostart`` does."""
    for kind, why in _PLACES:
        found = kind.search(path)
        while found is not None:
            if found.end() > workspace + 1:
                return why
            found = kind.search(path, found.start() + 1)
    return ""


@lru_cache(maxsize=8)
def _is_quiet(workspace: str) -> bool:
    """Whether nothing in the name of the workspace makes a path below it a candidate."""
    return _MAYBE.search(f"{workspace}/".casefold()) is None


def _at_home(path: str, home: str) -> bool:
    """Whether it lies where a person's own programs are found."""
    return path.startswith(home) and f"{path}/"[len(home) :].lstrip("/\\").startswith(_AT_HOME)


def makes_a_repository(path: str) -> str:
    """Why git takes the folder of this file for a repository because of it, whatever the folder is called, or finds
    the settings of one in it; or "". A word of a command that is no file may look the same, so that this is for files
    alone. Blocks for a moment."""
    folder, name = os.path.split(path)
    settings = name.casefold() in ("config", "config.worktree", "commondir")
    named = name if current.LINUX else name.upper()  # "head" is a usual name of folders
    is_one = os.path.lexists(os.path.join(folder, "HEAD")) if settings else named == "HEAD"
    return "git takes a folder with this file for a repository, and runs what its settings say" if is_one else ""


def is_data_of_git(path: str) -> bool:
    """Whether git writes there whenever it records something: never its settings, its hooks, or what it runs."""
    return _DATA_OF_GIT.search(path) is not None


def hooks_folder(root: str) -> str:
    """Where git looks for the hooks of the project in ``root`` if its settings name a place, or ""."""
    try:
        with open(os.path.join(root, ".git", "config"), encoding="utf-8", errors="replace") as file:
            found = _HOOKS_PATH.findall(file.read(_MAXIMUM))
    except OSError:
        return ""
    return os.path.normpath(os.path.join(root, os.path.expanduser(found[-1].strip()))) if found else ""

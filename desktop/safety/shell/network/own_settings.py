"""What sends a command to other computers than its words name, beside its words: its program's own settings (D-4).

``~/.curlrc`` may hold a proxy, ``~/.ssh/config`` another address behind a name, a repository an ``insteadOf``. A rule
that names a host therefore covers a command only where its program was told not to read them, or where nothing that it
would read can lead elsewhere. One table says of each program which files it reads, by which option it leaves them
alone, and what in them is harmless; whatever else stands there, or cannot be read, leads elsewhere.

| program        | reads                                        | leaves it alone with  | harmless in it             |
|----------------|----------------------------------------------|-----------------------|----------------------------|
| curl           | ``.curlrc``, ``curlrc``                      | ``-q`` as first word  | how much it says and waits |
| wget           | ``.wgetrc``, ``/etc/wgetrc``                 | ``--no-config``, same | how much it says and waits |
| ssh, scp, sftp | ``~/.ssh/config``, ``/etc/ssh/ssh_config``   | ``-F none``, same     | keys, ciphers, patience    |
| rsync          | those of ssh, ``.popt``                      | nothing               | the same; other programs'  |
| git            | the repository's, the person's, the system's | nothing               | sections about no place    |
| git over ssh   | those, and those of ssh                      | nothing               | the same                   |
| dig            | ``.digrc``                                   | ``-r``, same          | ``+short`` and the like    |
| ftp, lftp      | ``.netrc``, ``.lftprc``                      | ``-n``, ``--norc``    | no macros; nothing         |
| http(s)        | httpie's ``config.json``                     | nothing               | no options                 |

Which programs follow a redirect to another host stands in ``hosts``: a rule has to say the option that makes them
(``-L``) or, where they do it by themselves, the one that sets it (``--max-redirect``). Of programs that have no table
nobody knows what they read.
"""

from __future__ import annotations

import getpass
import glob
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.network.git_settings import GitFiles, read_git_settings
from desktop.safety.shell.syntax.words import Word, base_name
from desktop.systems import open_flags

_LARGEST = 1_000_000
_MAX_FILES = 64
_MAX_SAID = 3
Leading = Callable[[str], str]
"""Of a file's text the first word that can lead elsewhere, or ""."""


@dataclass(frozen=True, slots=True)
class _Table:
    """``files`` with ``~`` for a home, ``$NAME`` for a folder that a variable names, ``/etc`` for the system's;
    ``untold``: whether these arguments keep the program from reading them, which ``instead`` says; ``variables`` that
    lead elsewhere."""

    files: tuple[str, ...]
    leading: Leading
    untold: Callable[[Sequence[str]], bool] = lambda _: False
    instead: str = ""
    variables: str = ""


def _lines(harmless: str) -> Leading:
    """All lines but comments have to be of this form."""
    pattern = re.compile(harmless, re.IGNORECASE)

    def leading(text: str) -> str:
        for line in text.split("\n"):
            bare = line.strip()
            if bare and not bare.startswith("#") and pattern.fullmatch(bare) is None:
                return re.split(r"[\s=:]", bare, maxsplit=1)[0][:40]
        return ""

    return leading


def _without(part: str) -> Leading:
    """Objects to texts that hold ``part``, wherever it stands in them."""
    return lambda text: part if part in text.casefold() else ""


_CURL = _lines(
    r"(--?)?(silent|s|show-error|S|compressed|fail|f|progress-bar|#|no-progress-meter|verbose|v|include|i|ipv4|4|ipv6|6|"
    r"globoff|g|http1\.1|http2|remote-time|tcp-nodelay|((connect-timeout|max-time|m|retry|retry-delay|retry-max-time|"
    r"user-agent|A|limit-rate|speed-limit|speed-time|keepalive-time)[\s=:]\s*\S.*))"
)
_WGET = _lines(
    r"(passive_?ftp|tries|(dns_?|connect_?|read_?)?timeout|wait_?(retry)?|random_?wait|quiet|verbose|progress|"
    r"show_?progress|timestamping|prefer_?family|user_?agent|robots|dir_?struct|continue|no_?clobber|adjust_?extension|"
    r"content_?disposition|http_?keep_?alive|rec_?level|quota|retry_?connrefused|compression)\s*=\s*\S.*"
)
_SSH_HARMLESS = frozenset(
    "host sendenv setenv hashknownhosts gssapiauthentication gssapidelegatecredentials gssapikeyexchange user port "
    "passwordauthentication pubkeyauthentication kbdinteractiveauthentication challengeresponseauthentication "
    "preferredauthentications identityfile identitiesonly identityagent addkeystoagent certificatefile usekeychain "
    "serveraliveinterval serveralivecountmax tcpkeepalive compression loglevel stricthostkeychecking "
    "userknownhostsfile globalknownhostsfile updatehostkeys visualhostkey ciphers macs kexalgorithms "
    "hostkeyalgorithms batchmode ipqos pubkeyacceptedalgorithms pubkeyacceptedkeytypes hostbasedauthentication "
    "connecttimeout connectionattempts addressfamily forwardagent forwardx11 forwardx11trusted escapechar "
    "requesttty rekeylimit checkhostip casignaturealgorithms hostbasedacceptedalgorithms numberofpasswordprompts "
    "ignoreunknown requiredrsasize fingerprinthash protocol verifyhostkeydns".split()
)
_SSH_LINE = re.compile(r'"?([A-Za-z0-9]+)"?(?:\s*=\s*|\s+)(.*)')


def _ssh(text: str) -> str:
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        found = _SSH_LINE.fullmatch(bare)
        keyword = found[1].casefold() if found else ""
        matches = keyword == "match" and found is not None and "exec" not in found[2].casefold()
        if not matches and keyword != "include" and keyword not in _SSH_HARMLESS:
            return (found[1] if found else bare)[:40]
    return ""


def _files_of_ssh(arguments: Sequence[str]) -> list[str]:
    """The values of ``-F``, however they are written."""
    found = [text[2:] for text in arguments if text.startswith("-F") and len(text) > 2]
    return found + [after for text, after in pairwise(arguments) if text == "-F"]


def reads_no_file(arguments: Sequence[str]) -> bool:
    """``ssh -F none`` reads neither its own configuration nor the system's. Only as the first word: what stands behind
    a host is for the other computer."""
    named = _files_of_ssh(arguments)
    return bool(named) and arguments[0].startswith("-F") and all(name in ("none", os.devnull) for name in named)


def _among_options(*names: str) -> Callable[[Sequence[str]], bool]:
    """The first word is one of these, so that it is no option's value."""

    def told(arguments: Sequence[str]) -> bool:
        return bool(arguments) and arguments[0] in names

    return told


_SSH_TABLE = _Table(("~/.ssh/config", "/etc/ssh/ssh_config"), _ssh, reads_no_file, "-F none")
_SSH_BELOW = {"~/.ssh/config": "~/.ssh", "/etc/ssh/ssh_config": "/etc/ssh"}
_HTTPIE = _Table(
    (
        "$HTTPIE_CONFIG_DIR/config.json",
        "$XDG_CONFIG_HOME/httpie/config.json",
        "~/.config/httpie/config.json",
        "~/.httpie/config.json",
    ),
    _without('"-'),
)
_TABLES: dict[str, tuple[_Table, ...]] = {
    "curl": (
        _Table(
            tuple(
                f"{place}/{name}"
                for place in ("$CURL_HOME", "$XDG_CONFIG_HOME", "~", "~/.config")
                for name in (".curlrc", "curlrc", "_curlrc")
            ),
            _CURL,
            lambda words: bool(words) and (words[0].startswith("-q") or words[0] == "--disable"),
            "curl -q",
        ),
    ),
    "wget": (
        _Table(
            (
                "$WGETRC",
                "$SYSTEM_WGETRC",
                "~/.wgetrc",
                "/etc/wgetrc",
                "~/.config/wget/wget2rc",
                "~/.wget2rc",
                "/etc/wget2rc",
            ),
            _WGET,
            _among_options("--no-config"),
            "wget --no-config",
        ),
    ),
    **dict.fromkeys(("ssh", "scp", "sftp"), (_SSH_TABLE,)),
    "rsync": (
        _Table(_SSH_TABLE.files, _ssh),
        _Table(("~/.popt", "/etc/popt"), _lines(r"(?!rsync\b).*"), variables=r"RSYNC_(RSH|PROXY|CONNECT_PROG)"),
    ),
    "dig": (_Table(("~/.digrc",), _lines(r"(\+\w+(=\d+)?\s*)+"), _among_options("-r"), "dig -r"),),
    "ftp": (_Table(("~/.netrc", "$NETRC"), _without("macdef"), _among_options("-n"), "ftp -n"),),
    "lftp": (
        _Table(
            ("~/.lftprc", "~/.lftp/rc", "~/.config/lftp/rc", "/etc/lftp.conf"),
            _lines(r"(?!)"),
            _among_options("--norc"),
            "lftp --norc",
        ),
    ),
    **dict.fromkeys(("http", "https", "httpie"), (_HTTPIE,)),
}
_GIT_VARIABLES = re.compile(r"GIT_(?:CONFIG|SSH|PROXY|DIR|COMMON_DIR|EXEC_PATH|ALLOW_PROTOCOL)\w*")
_GIT_OVER_SSH = _Table(_SSH_TABLE.files, _ssh)


@dataclass(frozen=True, slots=True)
class Places:
    """The folders in which programs look for settings: a person's homes (by ``HOME`` and by the system), and the
    system's."""

    homes: tuple[str, ...]
    system: tuple[str, ...] = ("/etc", "/usr/local/etc", "/opt/homebrew/etc")


def places_here(environment: Mapping[str, str]) -> Places:
    """The places of this computer and the person who runs the app."""
    homes = (environment.get("HOME", ""), os.path.expanduser(f"~{getpass.getuser()}"), os.path.expanduser("~"))
    return Places(tuple(dict.fromkeys(home for home in homes if os.path.isabs(home))))


@dataclass(slots=True)
class OwnSettings:
    """The settings files of the programs of one command, which finds ``environment``; ``folders``: where it may be by
    then. Blocks."""

    environment: Mapping[str, str]
    places: Places
    folders: Sequence[str] = ()
    _texts: dict[str, str | None] = field(default_factory=dict)

    def lead(self, words: Sequence[Word]) -> list[str]:
        """Why a command may go elsewhere than its words say, as sentences; none: it does not."""
        program = base_name(words[0].text) if words else ""
        arguments = [word.text for word in words[1:]]
        return [
            why
            for table in _TABLES.get(program, ())
            if not table.untold(arguments)
            for why in self._by_table(program, table)
        ][:_MAX_SAID]

    def lead_git(self, given: Sequence[Word], *, over_ssh: bool) -> list[str]:
        """The same of git; ``given`` are the words in front of its sub-command."""
        found = [_by_variable(name, "git") for name in self.environment if _GIT_VARIABLES.fullmatch(name)]
        for path, text in self._git(given):
            if word := read_git_settings(text).leads:
                found.append(self._sentence("git", path, word, ""))
        if over_ssh:
            found += self._by_table("ssh", _GIT_OVER_SSH)
        return found[:_MAX_SAID]

    def git_redirects(self, given: Sequence[Word]) -> bool:
        """Whether git follows a server's redirect to another computer: it does, unless ``http.followRedirects`` says
        false and nothing says otherwise."""
        said = [value for _, text in self._git(given) for value in read_git_settings(text).redirects]
        said += [
            word.text.partition("=")[2] for word in given if word.text.casefold().startswith("http.followredirects=")
        ]
        return not said or any(value.casefold() not in ("false", "no", "off", "0") for value in said)

    def _git(self, given: Sequence[Word]) -> list[tuple[str, str]]:
        files = GitFiles(self._text, self.environment, self.places.homes, self.places.system)
        return files.read(self.folders, given)

    def _by_table(self, program: str, table: _Table) -> Iterable[str]:
        for name in self.environment if table.variables else ():
            if re.fullmatch(table.variables, name):
                yield _by_variable(name, program)
        for place in table.files:
            for path in self._meant(place):
                yield from self._by_file(program, path, table, _SSH_BELOW.get(place, ""), 0)

    def _by_file(self, program: str, path: str, table: _Table, below: str, depth: int) -> Iterable[str]:
        text = self._text(path)
        if text is None:
            return
        if word := table.leading(text):
            yield self._sentence(program, path, word, table.instead)
        elif below:
            for more in self._included(text, below):
                if depth > 4 or len(self._texts) > _MAX_FILES:
                    yield self._sentence(program, path, "Include", table.instead)
                    return
                yield from self._by_file(program, more, table, below, depth + 1)

    def _included(self, text: str, below: str) -> list[str]:
        """The files that ssh's ``Include`` lines name: patterns, relative to the folder of its settings."""
        found: list[str] = []
        for line in text.split("\n"):
            said = _SSH_LINE.fullmatch(line.strip())
            if said is None or said[1].casefold() != "include":
                continue
            for name in re.findall(r'"([^"]*)"|(\S+)', said[2]):
                pattern = name[0] or name[1]
                whole = pattern if pattern.startswith(("/", "~")) else f"{below}/{pattern}"
                found += [path for place in self._meant(whole) for path in sorted(glob.glob(place))]
        return found[: _MAX_FILES + 1]  # one too many is told, never passed over

    def _meant(self, place: str) -> list[str]:
        """The paths of ``~/x``, ``$NAME/x`` and ``/etc/x``."""
        first, slash, rest = place.partition("/")
        if first == "~":
            return [f"{home}/{rest}" for home in self.places.homes]
        if first.startswith("$"):
            value = self.environment.get(first[1:], "")
            return [value + slash + rest] if value else []
        if place.startswith("/etc/"):
            return [f"{folder}/{place[5:]}" for folder in self.places.system]
        return [place]

    def _text(self, path: str) -> str | None:
        """The text of a settings file; None: there is no such file. For what is no plain file, or too long, a text that
        leads elsewhere."""
        if path not in self._texts:
            self._texts[path] = _read(path)
        return self._texts[path]

    def _sentence(self, program: str, path: str, word: str, instead: str) -> str:
        shown = "".join(letter if letter.isprintable() else "?" for letter in word)
        for home in self.places.homes:
            path = "~" + path[len(home) :] if path.startswith(home + "/") else path
        more = f" ({instead} does not read it)" if instead else ""
        return f"{program} reads {path}, where “{shown}” can send it to other computers{more}"


def _by_variable(name: str, program: str) -> str:
    return f"the variable {name} can send {program} to other computers"


_UNREADABLE = "[something that cannot be read"


def _read(path: str) -> str | None:
    try:
        status = os.stat(path)
        if stat.S_ISCHR(status.st_mode) and os.path.realpath(path) == os.devnull:
            return None
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return _UNREADABLE
        with open(os.open(path, os.O_RDONLY | open_flags.NONBLOCK), "rb") as file:
            return file.read(_LARGEST).decode("utf-8", "replace").removeprefix("\ufeff")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # the command, which runs as the same user, finds as little
    except (OSError, ValueError):
        return _UNREADABLE

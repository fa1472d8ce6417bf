"""Programs that fetch what they run (npx, uvx, …): what a person reads meanwhile, and what was missing in the end.

Without a network npx says nothing for 70 seconds and then fails; told to, it says at once what it fetches and whom it
cannot reach. What it writes is heard and capped, and decides nothing but these words.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words
from desktop.tools.mcp.offered import plain

QUIET_S = 2.0
"""After which a start that says nothing is explained."""
OFFLINE, NOT_FOUND = "mcp.not_fetched_offline", "mcp.not_fetched_unknown"
"""Ends of a fetch that another start would not change."""
SHOWN = 80

_NPM = {"npm_config_loglevel": "http"}
_NPM_OFFLINE = {"npm_config_offline": "true"}
_UV_OFFLINE = {"UV_OFFLINE": "1"}
_ONLINE: Mapping[str, Mapping[str, str]] = {"npx": _NPM, "npm": _NPM}
_OFFLINE: Mapping[str, Mapping[str, str]] = {
    "npx": _NPM_OFFLINE,
    "npm": _NPM_OFFLINE,
    "pnpm": _NPM_OFFLINE,
    "uvx": _UV_OFFLINE,
    "uv": _UV_OFFLINE,
}
_ALWAYS = frozenset({"npx", "uvx", "bunx", "pnpx"})
_WITH: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"exec", "x"}),
    "pnpm": frozenset({"dlx"}),
    "yarn": frozenset({"dlx"}),
    "uv": frozenset({"run", "tool"}),
    "pipx": frozenset({"run"}),
    "docker": frozenset({"run"}),
    "podman": frozenset({"run"}),
    "deno": frozenset({"run"}),
}
_TAKES_A_VALUE = frozenset(
    {"-p", "--package", "--from", "--with", "--python", "--spec", "-e", "-v", "--name", "--mount"}
)
_NAMES_THE_PACKAGE = frozenset({"-p", "--package", "--from", "--spec"})

_FETCHED = re.compile(r"^npm (?:http|HTTP) (?:fetch )?GET 200 .*$", re.MULTILINE)
_LINE = re.compile(r"^npm (?:http|HTTP) .*\n?", re.MULTILINE)
_BEGUN = re.compile(r"n|np|npm|npm |npm h|npm ht|npm htt|npm http.{0,2000}")
_TRIED = re.compile(r"^npm http fetch GET (\S+) attempt \d+ failed with (\w+)", re.MULTILINE)
_DOWNLOADING = re.compile(r"^\s*(?:Downloading|Building|Updating) (\S+(?: \([\w. ]+\))?)", re.MULTILINE)
_PULLING = re.compile(r"^Unable to find image .* locally", re.MULTILINE)
_NOT_CACHED = re.compile(r"ENOTCACHED|ERR_PNPM_NO_OFFLINE|the network was disabled")
_UNREACHED = re.compile(
    r"\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b"
    r"|dns error|Temporary failure in name resolution|Network is unreachable|client error \(Connect\)"
)
_UNKNOWN = re.compile(r"npm (?:error|ERR!) code E404|was not found in the package registry|manifest unknown")
_KEPT = 4_000


@dataclass(frozen=True, slots=True)
class Fetcher:
    """A command that fetches what it runs."""

    program: str
    """Its name, as a person knows it."""
    package: str
    """What it fetches, or ""."""

    @property
    def what(self) -> str:
        """What it fetches, for a sentence."""
        return self.package or "what it runs"


def fetcher_of(command: str, args: Sequence[str]) -> Fetcher | None:
    """Whether a command fetches what it runs; None for any other."""
    program = re.split(r"[/\\]", command)[-1].removesuffix(".cmd").removesuffix(".exe")
    if program not in _ALWAYS and (program not in _WITH or not args or args[0] not in _WITH[program]):
        return None
    rest = list(args if program in _ALWAYS else args[1:])
    if program == "uv" and args[0] == "tool":
        if rest[:1] != ["run"]:
            return None
        rest = rest[1:]
    return Fetcher(program, plain(_package(rest), SHOWN))


def _package(args: Sequence[str]) -> str:
    """The package among the arguments: what an option names as such, else the first word that is no option."""
    waiting = ""
    for word in args:
        if waiting:
            if waiting in _NAMES_THE_PACKAGE:
                return word
            waiting = ""
        elif word.startswith("-"):
            name, equals, value = word.partition("=")
            if equals and name in _NAMES_THE_PACKAGE:
                return value
            waiting = word if word in _TAKES_A_VALUE else ""
        else:
            return word
    return ""


def fetch_variables(fetcher: Fetcher, *, network: bool, present: Mapping[str, str]) -> dict[str, str]:
    """The variables by which a fetcher says at once what it does, and without a network does not wait for one. What
    the person set stays theirs."""
    wanted = (_ONLINE if network else _OFFLINE).get(fetcher.program, {})
    known = {name.lower() for name in present}
    return {name: value for name, value in wanted.items() if name.lower() not in known}


class FetchWatch:
    """One start of a fetcher. ``doing`` is what a person reads meanwhile, or ""."""

    def __init__(self, fetcher: Fetcher, *, network: bool) -> None:
        self._fetcher, self._network = fetcher, network
        self._parts = 0
        self._heard = self._begun = ""
        self.doing = ""

    def quiet(self) -> None:
        """It said nothing for a while."""
        if self.doing:
            return
        program, what = self._fetcher.program, self._fetcher.what
        if self._network:
            self.doing = f"{program} starts {what}. The first time it is fetched, which can take a minute."
        else:
            self.doing = f"{program} has no network here: it can start {what} only if it was fetched before."

    def heard(self, text: str) -> str:
        """What it wrote to stderr; what of it belongs into the log: not the lines that were asked for here, of which a
        piece may end anywhere."""
        text, self._begun = self._begun + text, ""
        *_, last = text.rpartition("\n")
        if _BEGUN.fullmatch(last):  # its end comes with what is written next
            text, self._begun = text[: len(text) - len(last)], last
        self._heard = (self._heard + text)[-_KEPT:]
        program, what = self._fetcher.program, self._fetcher.what
        self._parts += len(_FETCHED.findall(text))
        tried, loading = _TRIED.findall(text), _DOWNLOADING.findall(text)
        if tried:
            self.doing = f"No network: {program} cannot reach {_host(tried[-1][0])} ({tried[-1][1]}), and tries again."
        elif loading:
            self.doing = f"{program} is fetching {what}: {plain(loading[-1], SHOWN)}."
        elif _PULLING.search(text):
            self.doing = f"{program} is fetching {what}."
        elif self._parts and _FETCHED.search(text):
            self.doing = f"{program} is fetching {what}: {count_words(self._parts, 'file')} so far."
        return _LINE.sub("", text)

    def failure(self) -> ToolFailure | None:
        """Why it could not fetch what it runs; None where it ended for another reason."""
        program, what, said = self._fetcher.program, self._fetcher.what, self._heard + self._begun
        unreached = bool(_UNREACHED.search(said))
        if not self._network and (unreached or _NOT_CACHED.search(said)):
            return ToolFailure(
                f"{program} has not fetched {what} yet, and this server has no network.",
                code=OFFLINE,
                next_step="Write network: true into its entry (Edit), or fetch it by hand and name the program itself.",
            )
        if _NOT_CACHED.search(said):
            return ToolFailure(
                f"{program} was told to work offline, and has not fetched {what} yet.",
                code=OFFLINE,
                next_step=f"Let {program} go online, then start the server again.",
            )
        if unreached:
            return ToolFailure(
                f"No network: {program} could not fetch {what}.",
                code="mcp.not_fetched",
                next_step="Connect this computer, or check its proxy. Then start the server again.",
            )
        if _UNKNOWN.search(said):
            return ToolFailure(
                f"{program} found no {self._fetcher.package or 'such package'}.",
                code=NOT_FOUND,
                next_step="Correct its name in the entry (Edit).",
            )
        return None


class StartWatch:
    """One start of a server, as a context that ends with its life: where its program fetches what it runs (``watch``),
    ``doing`` says what the start waits for, and a failure what was missing. ``changed`` is called when it is another,
    without anything that the server wrote."""

    def __init__(self, watch: FetchWatch | None = None, changed: Callable[[], None] = lambda: None) -> None:
        self._watch, self._changed = watch, changed
        self._later: asyncio.TimerHandle | None = None

    @property
    def doing(self) -> str:
        """What it waits for, as a sentence, or ""."""
        return self._watch.doing if self._watch is not None else ""

    def heard(self, text: str) -> str:
        """What the server wrote to stderr; what of it belongs into the log."""
        return self._watch.heard(text) if self._watch is not None else text

    def done(self) -> None:
        """The server has answered: whatever it says now is its own."""
        self._watch = None

    def _explain(self) -> None:
        if self._watch is not None:
            self._watch.quiet()
            self._changed()

    def __enter__(self) -> None:
        if self._watch is not None:
            self._later = asyncio.get_running_loop().call_later(QUIET_S, self._explain)

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> None:
        watch, self._watch = self._watch, None
        if self._later is not None:
            self._later.cancel()
        if watch is not None and isinstance(error, KnownError) and (why := watch.failure()) is not None:
            raise why from error


def _host(address: str) -> str:
    try:
        return plain(urlsplit(address).hostname or "", SHOWN) or "the registry"
    except ValueError:
        return "the registry"

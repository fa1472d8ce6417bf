"""With which computers a command talks, as far as its words say (D-4): of well-known programs where hosts stand among
their arguments, of all others the addresses.

What is no host may be taken for one (the value of an option that no table has): the request names one too many then,
and a rule that names hosts does not cover it. What leads elsewhere and is not read makes the hosts not ``complete``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.network.host_tables import (
    CURL_ELSEWHERE,
    CURL_FLAGS,
    CURL_VALUED,
    DIG_TYPES,
    GIT_VALUED,
    OFFLINE,
    OFFLINE_GIT,
    WGET_ELSEWHERE,
    WGET_VALUED,
)
from desktop.safety.shell.network.own_settings import OwnSettings, reads_no_file
from desktop.safety.shell.programs.blocklist import git_command, may_mean
from desktop.safety.shell.programs.git import git_words
from desktop.safety.shell.syntax.getopt import SHORT_OPTIONS, ReadOptions, ShortOptions, read_options
from desktop.safety.shell.syntax.words import Word, base_name

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:/+")
_BEFORE_ADDRESS = re.compile(r"-.*|[A-Za-z_]\w*=[a-zA-Z][a-zA-Z0-9+.\-]*", re.DOTALL)
_REMOTE = re.compile(r"(?:[^@:/\s]+@)?(\[[^\]/]+\]|[^@:/\s]+):(?!//)", re.DOTALL)
_PROXY = re.compile(r"(?i)([A-Za-z_]*proxy)\s*=\s*(.*)", re.DOTALL)
_SOCAT = re.compile(r"(?i)((?:tcp|udp|openssl|ssl|sctp|dccp|socks|proxy)[\w\-]*):(\[[^\]]*\]|[^:,!]+)")
_PLAIN_HOST = re.compile(r"[\w.\-]+|\[[\w:.%]+\]")
_UNREAD = ("$", "`")
_MAX_NAME = 255
_MAX_PLACE = 1_000
_GO_ON = ("--recursive", "--recurse-submodules", "--multiple")
"""Options of git that go on to the hosts of other repositories."""
ALWAYS = "--redirects"
"""No program has this option, so that no rule says it."""
GIT_REDIRECTS = "-c http.followRedirects"
_METHOD = re.compile(r"[A-Z]+")


@dataclass(slots=True)
class Hosts:
    """The hosts of a command. ``complete``: whether the words name every host that it talks with; ``leads``: options
    that send it on to others, or would have to say that it does not; ``because``: why it may reach others, as
    sentences; ``astray``: those of them that no rule can say, since they are about what does not stand in the command.
    """

    names: dict[str, None] = field(default_factory=dict)
    complete: bool = True
    leads: list[str] = field(default_factory=list)
    because: list[str] = field(default_factory=list)
    astray: list[str] = field(default_factory=list)

    def lead_astray(self, sentences: Sequence[str]) -> None:
        """Settings of the program's own send it elsewhere."""
        self.astray += sentences
        self.because += sentences
        self.complete = self.complete and not sentences

    def follows(self, option: str, sentence: str) -> None:
        """Note that the command follows redirects, which a rule has to say."""
        self.leads.append(option)
        self.because.append(sentence)
        self.complete = False

    def add(self, names: Iterable[str]) -> None:
        """Add hosts; a text whose value only running would show is not named."""
        for long_name in names:
            name = long_name[:_MAX_NAME]
            self.complete = self.complete and _PLAIN_HOST.fullmatch(name) is not None
            if name and not any(mark in name for mark in _UNREAD):
                self.names[name] = None


def hosts_in(word: Word) -> list[str]:
    """The hosts that a word names by itself, as an address or like scp."""
    if ":" not in word.text:
        return []
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.\-]*://", word.text):
        return _address(word.text)
    found = _REMOTE.match(word.text)
    named = found is not None and re.fullmatch(r"[\w.\-]*\.[\w.\-]*", found[1]) and not re.search(r"\s", word.text)
    return [found[1]] if found is not None and named and not word.text.startswith(("/", ".", "-")) else []


def hosts_of_command(words: Sequence[Word], own: OwnSettings) -> Hosts:
    """The hosts that a command names; ``words`` are its program and arguments, ``own`` the settings that the program
    reads."""
    found = Hosts()
    if not words:
        return found
    name, arguments = git_words(base_name(words[0].text), words[1:])
    program = _PROGRAMS.get(name)
    if name == "git":
        _git(arguments, found, own)
    elif program is not None:
        program.read(arguments, found)
        if found.names:
            found.lead_astray(own.lead(words))
    else:
        found.complete = False
        for word in arguments:
            if ":" in word.text or "=" in word.text:
                found.add(hosts_assigned(word))
                found.add(hosts_in(word) or _glued_address(word.text))
    return found


def hosts_assigned(word: Word) -> list[str]:
    """``https_proxy=HOST`` leads to another computer than the address says."""
    found = _PROXY.fullmatch(word.text)
    return _address(found[2]) if found and not found[1].casefold().startswith("no") else _glued_address(word.text)


def may_need_network(words: Sequence[Word], kind: str) -> bool:
    """Whether a command is not known to do without the network. ``kind`` as in Judgement."""
    if kind in ("unknown", "privileged"):
        return True
    if kind in ("reads", "network") or not words:
        return False
    name, arguments = git_words(base_name(words[0].text), words[1:])
    if name == "git":
        return git_command(arguments)[0] not in OFFLINE_GIT
    return name not in OFFLINE


def _glued_address(text: str) -> list[str]:
    """The address behind the name of an option or a variable, as in ``--proxy=HOST``."""
    before, mark, rest = text.partition("://")
    return _address(rest) if mark and _BEFORE_ADDRESS.fullmatch(before) else []


def _address(text: str) -> list[str]:
    """The host in an address, with or without its scheme. Where readers disagree about the host, all candidates."""
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    plain, widest = re.split(r"[/?#\\]", rest, maxsplit=1)[0], rest.partition("/")[0]
    return [host for part in dict.fromkeys((plain, widest)) if (host := _without_port(part.rpartition("@")[2]))]


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text.partition("]")[0] + "]"
    return text if text.count(":") > 1 else text.partition(":")[0]


def _remote(text: str) -> list[str]:
    """``user@host:path``, as scp and git take it."""
    if _SCHEME.match(text):
        return [] if text.startswith("file:") else _address(text)
    found = _REMOTE.match(text)
    return [found[1]] if found else []


def _list_of(read: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    return lambda text: [host for part in text.split(",") for host in read(part)]


def _field(*places: int) -> Callable[[str], list[str]]:
    """A reader of hosts that stand between colons, as in ``--connect-to HOST:PORT:TO:PORT``."""

    def read(text: str) -> list[str]:
        parts = re.findall(r"\[[^\]]*\]|[^:]+|(?<=:)(?=:)|^(?=:)", text)
        named = [parts[at] for at in places if -len(parts) <= at < len(parts)]
        return [name.lstrip("+-") for name in named if name and not name.startswith("/")]

    return read


def _resolved(text: str) -> list[str]:
    """``--resolve HOST:PORT:ADDRESS,ADDRESS``."""
    host, _, rest = text.lstrip("+-").partition(":")
    return [one for one in (host, *rest.partition(":")[2].split(",")) if one and one != "*"]


def _ssh_option(text: str) -> list[str]:
    """The hosts in ``-o HostName=x`` of ssh."""
    name, value = (re.split(r"\s*=\s*|\s+", text.strip(), maxsplit=1) + [""])[:2]
    wanted = name.casefold()
    return _list_of(_address)(value) if wanted in ("hostname", "proxyjump") else []


def _header(text: str) -> list[str]:
    """The host in ``-H 'Host: x'``: behind one address many computers may answer, by this name."""
    name, _, value = text.partition(":")
    return _address(value.strip()) if name.strip().casefold() == "host" else []


def _wget_order(text: str) -> list[str]:
    """The host in wget's ``-e https_proxy=HOST``."""
    found = _PROXY.fullmatch(text.strip())
    return _address(found[2]) if found else []


_Operands = Callable[[list[str]], list[str]]


def _each(read: Callable[[str], list[str]]) -> _Operands:
    return lambda texts: [host for text in texts for host in read(text)]


def _first(read: Callable[[str], list[str]]) -> _Operands:
    return lambda texts: [host for text in texts[:1] for host in read(text)]


def _asked_of_names(texts: list[str]) -> list[str]:
    """The hosts in dig's arguments: a server behind @, and names; words that say what is asked for are left out."""
    return [text.lstrip("@") for text in texts if not text.startswith("+") and text.upper() not in DIG_TYPES]


def _by_method(texts: list[str]) -> list[str]:
    """The hosts in httpie's arguments: the address may stand behind the method."""
    return _first(_address)(texts[1:] if texts and _METHOD.fullmatch(texts[0]) else texts)


def _socat(texts: list[str]) -> list[str]:
    found = [place for text in texts for place in _SOCAT.finditer(text[:_MAX_PLACE])]
    return [place[2] for place in found if not re.search(r"(?i)listen|recv", place[1])]


@dataclass(frozen=True, slots=True)
class _HostPlaces:
    """Where hosts stand among the arguments of one program."""

    operands: _Operands
    """Reads the hosts in its operands."""
    short_options: ShortOptions
    """Its single letters."""
    long: Mapping[str, bool] = field(default_factory=dict)
    """Its long options, and whether each takes a value."""
    options: Mapping[str, Callable[[str], list[str]]] = field(default_factory=dict)
    """Reads the hosts in the values of options."""
    elsewhere: frozenset[str] = frozenset()
    """Options that lead to more that nobody reads."""
    silent: frozenset[str] = frozenset()
    """Options with which it talks with nobody."""
    complete: bool = True
    """Whether its words name every host."""
    redirects: str = ""
    """The option by which it follows redirects, ``ALWAYS``, or ""."""

    def read(self, words: Sequence[Word], found: Hosts) -> None:
        given: ReadOptions = read_options(words, self.short_options, self.long)
        names = {name for name, _ in given.options}
        for name, value in given.options:
            if (reader := self.options.get(name)) is not None:
                found.add(reader(value or ""))
            elif value and name.startswith("--") and name not in self.long and "://" in value:
                found.add(_address(value))
        if not names & self.silent:
            found.add(self.operands([word.text for word in given.operands]))
        elsewhere = names & self.elsewhere
        elsewhere -= {"-F"} if reads_no_file([word.text for word in words]) else set()
        found.leads += sorted(elsewhere)
        said = [value for name, value in given.options if name == self.redirects]
        if self.redirects == ALWAYS:
            found.follows(ALWAYS, "it follows where a server sends it")
        elif self.redirects and (not said or any(value != "0" for value in said)):
            found.follows(self.redirects, f"it follows where a server sends it ({self.redirects}=0 does not)")
        unsure = found.leads or any(word.split for word in words)
        found.complete = found.complete and self.complete and bool(found.names) and not unsure


def _git(words: Sequence[Word], found: Hosts, own: OwnSettings) -> None:
    subcommand, rest = git_command(words)
    settings = words[: len(words) - len(rest)]
    addresses = [word.text for word in rest]
    short_options = SHORT_OPTIONS.get(f"git {subcommand}", ShortOptions.of(""))
    given = read_options(rest, short_options, GIT_VALUED)
    found.leads += [name for name, _ in given.options if may_mean(name, *_GO_ON)]
    if subcommand in ("push", "pull", "fetch", "clone", "ls-remote"):
        remotes = given.operands if any(may_mean(name, "--multiple") for name in found.leads) else given.operands[:1]
        found.add(host for word in remotes for host in _remote(word.text))
        found.add(host for name, value in given.options if name == "--repo" for host in _remote(value or ""))
    else:
        found.add(host for word in given.operands if "://" in word.text for host in hosts_in(word))
    set_here = [word.text.partition("=")[2] for word in settings]
    set_here += [(value or "").partition("=")[2] for name, value in given.options if name in ("-c", "--config")]
    found.add(host for text in set_here if text for host in _remote(text))
    found.complete = found.complete and bool(found.names) and not any(set_here) and not found.leads
    if found.names:
        over_ssh = any(_REMOTE.match(text) or re.match(r"(?i)[a-z+]*ssh[a-z+]*:", text) for text in addresses)
        found.lead_astray(own.lead_git(settings, over_ssh=over_ssh))
        if any(re.search(r"(?i)https?:", text) for text in addresses) and own.git_redirects(settings):
            found.follows(GIT_REDIRECTS, "git follows where a server sends it (http.followRedirects=false does not)")


def _flags(text: str) -> dict[str, bool]:
    return dict.fromkeys(text.split(), True)


_OF = ShortOptions.of
_CURL_PROXIES = "-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --proxy1.0 --doh-url --url"
_SSH_OPTIONS = {"-J": _list_of(_address), "-o": _ssh_option, "-W": _field(0), "-L": _field(-2), "-R": _field(-2)}
_SSH_ELSEWHERE = frozenset(("-F", "-D", "-w", "-S"))
_SCP = _HostPlaces(
    _each(_remote), _OF("346ABCpqRrTvO", "cDFiJloPSX"), options=_SSH_OPTIONS, elsewhere=frozenset(("-F", "-S"))
)
_BROWSER = _HostPlaces(_each(_address), _OF(""), complete=False, redirects=ALWAYS)
_PING = _HostPlaces(_each(_address), _OF("", "cIilmMpQsStTwW"))
_CALLS = _HostPlaces(
    _first(_address),
    _OF("46bCDdFhkNnrStUuvZz", "iIOPpqsTVwWxXmMgG"),
    _flags("--proxy --proxy-type --proxy-auth --wait --source --source-port --idle-timeout --delay"),
    {"-x": _address, "--proxy": _address},
    silent=frozenset(("-l", "--listen")),
)
_PROGRAMS: dict[str, _HostPlaces] = {
    "curl": _HostPlaces(
        _each(_address),
        SHORT_OPTIONS["curl"],
        {**_flags(CURL_VALUED), **_flags(_CURL_PROXIES[3:]), **dict.fromkeys(CURL_FLAGS.split(), False)},
        {
            **dict.fromkeys(_CURL_PROXIES.split(), _address),
            "-H": _header,
            "--header": _header,
            "--connect-to": _field(0, 2),
            "--resolve": _resolved,
            "--dns-servers": _list_of(_address),
        },
        frozenset(CURL_ELSEWHERE.split()),
    ),
    "wget": _HostPlaces(
        _each(_address),
        SHORT_OPTIONS["wget"],
        _flags(WGET_VALUED),
        {"-e": _wget_order, "--execute": _wget_order, "--header": _header, "-B": _address, "--base": _address},
        frozenset(WGET_ELSEWHERE.split()),
        redirects="--max-redirect",
    ),
    "ssh": _HostPlaces(
        _first(_address),
        _OF("46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopQRSWw"),
        options=_SSH_OPTIONS,
        elsewhere=_SSH_ELSEWHERE,
    ),
    "scp": _SCP,
    "sftp": _HostPlaces(
        _first(_address), _OF("46AaCfNpqrv", "BbcDFiJlooPRSsX"), options=_SSH_OPTIONS, elsewhere=_SSH_ELSEWHERE
    ),
    "rsync": _HostPlaces(
        _each(_remote), SHORT_OPTIONS["rsync"], {"--rsh": True, "--address": True}, elsewhere=frozenset(("-e", "--rsh"))
    ),
    **dict.fromkeys(("nc", "ncat", "netcat", "telnet", "ftp", "tftp", "lftp"), _CALLS),
    **dict.fromkeys(("ping", "ping6", "traceroute", "traceroute6", "tracepath", "mtr"), _PING),
    "dig": _HostPlaces(
        _asked_of_names,
        _OF("46muvri", "bcfkpqtxy"),
        options={"-x": _address, "-q": _address},
        elsewhere=frozenset(("-f",)),
    ),
    "host": _HostPlaces(_each(_address), _OF("aACdlnrsTUvVw46", "cmNRtW")),
    "nslookup": _HostPlaces(_each(_address), _OF("")),
    "whois": _HostPlaces(_each(_address), _OF("", "hp"), options={"-h": _address}, redirects=ALWAYS),
    **dict.fromkeys(("w3m", "lynx", "elinks", "links", "aria2c"), _BROWSER),
    **dict.fromkeys(
        ("http", "https", "httpie"),
        _HostPlaces(
            _by_method,
            _OF("bfhjvFdS", "aAopPs"),
            _flags("--auth --auth-type --output --print --proxy --verify --style"),
            {"--proxy": lambda text: _address(text.partition(":")[2])},
            frozenset(("-F", "--follow", "-d", "--download")),
        ),
    ),
    "socat": _HostPlaces(_socat, _OF("dDuUvxhV", "bltTL")),
}

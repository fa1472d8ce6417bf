"""Which computers a command without the network tried to reach, as far as its own output says."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_HOSTS = 10
_READ = 200_000
_HOST = r"([A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?)"
_SAID = re.compile(
    rf"(?:Could not resolve host(?:name)?:? |unable to resolve host(?: address)? [‘'\"]?|"
    rf"getaddrinfo (?:ENOTFOUND|EAI_AGAIN) |Failed to resolve '|host='|lookup |"
    rf"[Cc]ould not reach |Temporary failure resolving '|ping: ){_HOST}"
)
_FAILED = re.compile(
    "[Cc]ould not (?:resolve|reach|connect)|unable to resolve|ENOTFOUND|EAI_AGAIN|ENETUNREACH|Failed to resolve|"
    "NameResolutionError|[Nn]ame or service not known|[Tt]emporary failure (?:in name resolution|resolving)|"
    "[Nn]etwork is unreachable|No address associated with hostname|dial tcp|connection refused"
)


def tried_hosts(output: str, named: Iterable[str] = ()) -> tuple[str, ...]:
    """The hosts, each once; ``named`` are those that the command's text names, which count where its output says that
    some host could not be reached. A text that says so without a name gives ("",)."""
    text = output[-_READ:]
    if not _FAILED.search(text):
        return ()
    found = dict.fromkeys(host.lower() for host in _SAID.findall(text) if "." in host)
    found.update(dict.fromkeys(host for host in named if host))
    return tuple(list(found)[:MAX_HOSTS]) or ("",)

"""Signs a request to Amazon with an access key: Signature Version 4, for the plain requests that litellm does not make.

Written after the public description of the algorithm; pinned by its published example and by what botocore signs.
"""

from __future__ import annotations

import hashlib
import hmac
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A person's or role's key; ``token`` only for temporary ones."""

    key_id: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where and when a signature holds."""

    region: str
    service: str
    at: datetime

    @property
    def date(self) -> str:
        return self.at.strftime("%Y%m%d")

    def __str__(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/aws4_request"


def signed_headers(url: str, key: AccessKey, region: str, service: str, at: datetime | None = None) -> dict[str, str]:
    """The headers that sign a GET of ``url``."""
    now = Scope(region, service, at or datetime.now(UTC))
    signed = {"host": urllib.parse.urlsplit(url).netloc, "x-amz-date": now.at.strftime("%Y%m%dT%H%M%SZ")}
    if key.token:
        signed["x-amz-security-token"] = key.token
    made = signature("GET", url, signed, b"", key.secret, now)
    names = ";".join(sorted(signed))
    sent = {name: value for name, value in signed.items() if name != "host"}
    sent["Authorization"] = f"{ALGORITHM} Credential={key.key_id}/{now}, SignedHeaders={names}, Signature={made}"
    return sent


def signature(method: str, url: str, headers: Mapping[str, str], body: bytes, secret: str, scope: Scope) -> str:
    """The signature over these headers (names in lower case) and the body."""
    parts = urllib.parse.urlsplit(url)
    pairs = sorted(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
    query = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in pairs)
    lines = [f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)]
    path = urllib.parse.quote(parts.path or "/", safe="/-_.~")
    names, payload = ";".join(sorted(headers)), hashlib.sha256(body).hexdigest()
    request = "\n".join((method, path, query, *lines, "", names, payload))
    digest = hashlib.sha256(request.encode()).hexdigest()
    text = "\n".join((ALGORITHM, scope.at.strftime("%Y%m%dT%H%M%SZ"), str(scope), digest))
    key = ("AWS4" + secret).encode()
    for part in (scope.date, scope.region, scope.service, "aws4_request"):
        key = _hmac(key, part)
    return _hmac(key, text).hex()


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="-_.~")


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()

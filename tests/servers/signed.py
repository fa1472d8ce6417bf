"""Whether a request to the fake Amazon is signed with the one access key it knows: Signature Version 4, by its public
description, so that what signs (botocore) is checked by something else."""

import hashlib
import hmac
import re
import urllib.parse
from collections.abc import Mapping

from aiohttp import web

ACCESS_KEY_ID = "AKIATESTTESTTESTTEST"
SECRET_ACCESS_KEY = "wJalrXUtnFEMI+K7MDENG+bPxRfiCYTESTTESTTEST"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8}/[\w-]+/\w+/aws4_request), ?SignedHeaders=([\w;-]+), ?Signature=(\w+)"
)


def signed_well(request: web.Request, body: bytes) -> bool | None:
    """None: not signed at all."""
    found = _AUTHORIZATION.fullmatch(request.headers.get("Authorization", ""))
    if found is None:
        return None
    key_id, scope, names, given = found.groups()
    headers = {name: request.headers[name] for name in names.split(";")}
    url = f"http://{request.host}{request.raw_path}"
    return key_id == ACCESS_KEY_ID and given == signature(request.method, url, headers, body, SECRET_ACCESS_KEY, scope)


def signature(method: str, url: str, headers: Mapping[str, str], body: bytes, secret: str, scope: str) -> str:
    """The signature over these headers (names in lower case, ``x-amz-date`` among them) and the body."""
    parts = urllib.parse.urlsplit(url)
    pairs = sorted(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
    query = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in pairs)
    lines = [f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)]
    path = urllib.parse.quote(parts.path or "/", safe="/-_.~")
    names, payload = ";".join(sorted(headers)), hashlib.sha256(body).hexdigest()
    request = "\n".join((method, path, query, *lines, "", names, payload))
    text = "\n".join(("AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(request.encode()).hexdigest()))
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    return _hmac(key, text).hex()


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="-_.~")


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()

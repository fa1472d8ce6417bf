"""Whether a request to the fake Amazon is signed with the one access key it knows."""

import re
from datetime import UTC, datetime

from aiohttp import web

from desktop.workers.model_host.sigv4 import Scope, signature

ACCESS_KEY_ID = "AKIATESTTESTTESTTEST"
SECRET_ACCESS_KEY = "wJalrXUtnFEMI+K7MDENG/bPxRfiCYTESTTESTTEST"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8}/[\w-]+/\w+/aws4_request), ?SignedHeaders=([\w;-]+), ?Signature=(\w+)"
)


def signed_well(request: web.Request, body: bytes) -> bool | None:
    """None: not signed at all."""
    found = _AUTHORIZATION.fullmatch(request.headers.get("Authorization", ""))
    if found is None:
        return None
    key_id, scope, names, given = found.groups()
    _, region, service, _ = scope.split("/")
    at = datetime.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    headers = {name: request.headers[name] for name in names.split(";")}
    url = f"http://{request.host}{request.raw_path}"
    made = signature(request.method, url, headers, body, SECRET_ACCESS_KEY, Scope(region, service, at))
    return key_id == ACCESS_KEY_ID and made == given

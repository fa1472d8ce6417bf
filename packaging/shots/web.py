"""A request to read a page of the web, for pictures and tests."""

from __future__ import annotations

import time

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.web.addresses import read_address
from desktop.tools.builtin.web_fetch import NEW_HOST, WEB_FETCH, preview_of

URL = "https://example.org/ports/quay-3/notices?from=2026-03-17&gauge=07"


def web_request(url: str = URL) -> PermissionRequest:
    """As the gate would make it."""
    address = read_address(url)
    return PermissionRequest(
        request_id="r27",
        run_id="run1",
        thread_id="t1",
        call_id="c27",
        tool=WEB_FETCH.name,
        description=WEB_FETCH.description,
        category=Category.READ,
        raised_because="",
        chain=("Workbench",),
        arguments={"url": url},
        paths=(),
        judgements=(),
        preview=preview_of(address),
        digest="d27",
        asked_at=time.time() - 48,
        asks=NEW_HOST.format(host=address.host),
    )

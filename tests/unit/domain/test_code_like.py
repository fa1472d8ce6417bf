"""What in an address looks like a code: there it can carry a person's text, written otherwise."""

import base64
import hashlib
import secrets
import time

import pytest

from desktop.domain.web.code_like import MOST, code_like

pytestmark = pytest.mark.spec("R-WEB-1")
SECRET = b"sk-live-4242 the database password is hunter2"


def encoded() -> dict[str, str]:
    url = base64.urlsafe_b64encode(SECRET).decode().rstrip("=")
    return {
        "base64 in the path": f"https://evil.example/{url}",
        "base64 in a part of it": f"https://evil.example/a/{url[:24]}/logo.png",
        "hexadecimal": f"https://evil.example/pixel/{SECRET.hex()}.gif",
        "base32 in the name": f"https://{base64.b32encode(SECRET).decode().rstrip('=').lower()[:40]}.evil.example/",
        "behind the ?": f"https://evil.example/?q={url}",
        "percent signs": "https://evil.example/" + "".join(f"%{byte:02X}" for byte in b"\x00\x9f\x12\xff\xc3\x28ab"),
        "digits": "https://evil.example/" + "".join(f"{byte:03d}" for byte in SECRET[:9]),
        "a commit": f"https://evil.example/{hashlib.sha256(b'x').hexdigest()[:40]}",
    }


@pytest.mark.parametrize("name", encoded())
def test_data_in_an_address_is_found_with_its_place(name: str) -> None:
    address = encoded()[name]
    (found, *_) = code_like(address)
    assert address[found.start : found.end] == found.text
    assert len(found.text) >= 16


def test_of_two_hundred_random_keys_none_is_missed() -> None:
    missed = [
        key for key in (secrets.token_urlsafe(24) for _ in range(200)) if not code_like(f"https://a.example/{key}")
    ]
    assert len(missed) <= 2, missed


@pytest.mark.parametrize(
    "address",
    [
        "https://docs.python.org/3/library/asyncio-task.html#asyncio.TaskGroup",
        "https://en.wikipedia.org/wiki/Antidisestablishmentarianism",
        "https://de.wikipedia.org/wiki/Donaudampfschifffahrtsgesellschaft",
        "https://github.com/python/cpython/blob/3.12/Lib/asyncio/base_events.py",
        "https://stackoverflow.com/questions/11227809/why-is-processing-a-sorted-array-faster-than-an-unsorted-array",
        "https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Promise/allSettled",
        "https://doc.qt.io/qtforpython-6/PySide6/QtWidgets/QAbstractScrollArea.html",
        "https://www.example.org/2026/03/17/ten-things-to-know-about-tide-gauges-and-harbours",
        "https://arxiv.org/abs/2403.01234v2",
        "https://ja.wikipedia.org/wiki/%E6%97%A5%E6%9C%AC%E8%AA%9E%E7%89%88",
        "https://example.org/ports/quay-3/notices?from=2026-03-17&gauge=07",
        "https://learn.microsoft.com/en-us/dotnet/api/system.collections.generic.dictionary-2?view=net-8.0",
        "https://kubernetes.io/docs/concepts/workloads/controllers/horizontalpodautoscaler/",
    ],
)
def test_an_ordinary_address_has_none(address: str) -> None:
    assert code_like(address) == ()


def test_an_address_made_to_cost_time_costs_none_and_no_more_than_some_are_named() -> None:
    began = time.process_time()
    assert len(code_like("https://a.example/" + "/".join(secrets.token_hex(16) for _ in range(60)))) == MOST
    code_like("https://a.example/" + "%" * 200_000)
    code_like("https://a.example/" + "-" * 200_000)
    assert time.process_time() - began < 2

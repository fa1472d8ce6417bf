"""Known secrets in every writing that programs use for them, broken over lines, in streams, and what that costs."""

import base64
import html
import json
import random
import shlex
import string
import time
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.text.scrub import scrub
from desktop.safety.secrets.redaction import REDACTED, SecretRedactor

KEY = "sk-live-Q7/w+9Zr&x\"K'4<äT>b2Mv0pN8"
PLAIN = "tok-A1b2C3d4E5f6G7h8J9k0L1m2"

WRITINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": json.dumps,
    "json without escapes": lambda v: json.dumps(v, ensure_ascii=False),
    "json in json": lambda v: json.dumps(json.dumps({"v": v})),
    "json with escaped slashes": lambda v: json.dumps(v).replace("/", "\\/"),
    "python": repr,
    "python bytes in hex": lambda v: "".join(f"\\x{b:02x}" for b in v.encode()),
    "html": html.escape,
    "html, decimal quote": lambda v: html.escape(v).replace("&#x27;", "&#39;"),
    "xml": lambda v: html.escape(v).replace("&#x27;", "&apos;"),
    "html text": lambda v: html.escape(v, quote=False),
    "url": lambda v: urllib.parse.quote(v, safe=""),
    "url path": urllib.parse.quote,
    "url form": urllib.parse.quote_plus,
    "url, small letters": lambda v: "".join(
        f"%{b:02x}" if b > 127 or (not chr(b).isalnum() and chr(b) not in "-_.~") else chr(b) for b in v.encode()
    ),
    "url, every byte": lambda v: "".join(f"%{b:02X}" for b in v.encode()),
    "base64": lambda v: base64.b64encode(v.encode()).decode(),
    "base64 without padding": lambda v: base64.b64encode(v.encode()).decode().rstrip("="),
    "base64 for urls": lambda v: base64.urlsafe_b64encode(v.encode()).decode(),
    "basic auth": lambda v: base64.b64encode(f"me:{v}".encode()).decode(),
    "base64 in a longer text": lambda v: base64.b64encode(f"KEY={v}\nMODE=1\n".encode()).decode(),
    "base64 of utf-16": lambda v: base64.b64encode(v.encode("utf-16-le")).decode(),
    "base64 over lines": lambda v: base64.encodebytes(f"{'x' * 60}KEY={v}\n".encode()).decode(),
    "base64 over lines in json": lambda v: json.dumps(base64.encodebytes(f"{'x' * 60}KEY={v}\n".encode()).decode()),
    "base32": lambda v: base64.b32encode(v.encode()).decode(),
    "hex": lambda v: v.encode().hex(),
    "HEX": lambda v: v.encode().hex().upper(),
    "hex with colons": lambda v: v.encode().hex(":"),
    "hex with spaces": lambda v: v.encode().hex(" "),
    "hex as od writes it": lambda v: "\n".join(
        " " + v.encode()[i : i + 16].hex(" ") for i in range(0, len(v.encode()), 16)
    ),
    "hex as c writes it": lambda v: ", ".join(f"0x{b:02x}" for b in v.encode()),
    "backwards": lambda v: v[::-1],
    "broken over lines": lambda v: "\n    ".join(v[i : i + 5] for i in range(0, len(v), 5)),
    "letter by letter": " ".join,
    "capitals": str.upper,
    "small letters": str.lower,
    "case exchanged": str.swapcase,
    "json, every letter": lambda v: "".join(f"\\u{ord(c):04x}" for c in v),
    "JSON, every letter": lambda v: "".join(f"\\u{ord(c):04X}" for c in v),
    "json, every letter, in json": lambda v: json.dumps("".join(f"\\u{ord(c):04x}" for c in v)),
    "html, every letter": lambda v: "".join(f"&#{ord(c)};" for c in v),
    "html, every letter in hex": lambda v: "".join(f"&#x{ord(c):x};" for c in v),
    "html, every letter in HEX": lambda v: "".join(f"&#x{ord(c):X};" for c in v),
    "url, twice": lambda v: urllib.parse.quote(urllib.parse.quote(v, safe=""), safe=""),
    "url path, twice": lambda v: urllib.parse.quote(urllib.parse.quote(v)),
    "url, every byte, twice": lambda v: "".join(f"%25{b:02x}" for b in v.encode()),
    "base64 of base64": lambda v: base64.b64encode(base64.b64encode(v.encode())).decode(),
    "base64 of base64 in a longer text": lambda v: base64.b64encode(b"k: " + base64.b64encode(v.encode())).decode(),
    "quoted-printable": lambda v: "".join(f"={b:02X}" for b in v.encode()),
    "octal": lambda v: "".join(f"\\{b:03o}" for b in v.encode()),
    "decimal": lambda v: " ".join(str(b) for b in v.encode()),
    "decimal list": lambda v: str(list(v.encode())),
    "full width": lambda v: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in v),
    "unseen signs on every line between": "\u200b".join,
    "unseen signs that turn lines round": lambda v: "\u202e" + "\u2060\ufeff".join(v),
    "utf-16 in hex": lambda v: v.encode("ascii", "ignore").decode().encode("utf-16-le").hex() if v.isascii() else v,
}


def knowing(*values: str) -> SecretRedactor:
    redactor = SecretRedactor()
    for value in values:
        redactor.remember(value)
    return redactor


@pytest.mark.spec("R-SEC-4", "R-SEC-5")
@pytest.mark.parametrize("value", [KEY, PLAIN])
@pytest.mark.parametrize("writing", list(WRITINGS))
def test_a_known_value_is_recognised_in_this_writing(writing: str, value: str) -> None:
    written = WRITINGS[writing](value)
    masked = knowing(value).mask_known(f"before {written} after")
    assert REDACTED in masked
    left = (
        masked.removeprefix("before ").removesuffix(" after").replace(REDACTED, "").replace("eHh4", "")
    )  # those are the xxx in front
    assert len(left) < len(written) / 2, masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


@pytest.mark.spec("R-SEC-6")
@pytest.mark.parametrize("writing", [w for w in WRITINGS if "line" not in w and "space" not in w and "letter" not in w])
def test_a_servers_error_loses_the_key_in_this_writing_too(writing: str) -> None:
    if writing == "hex as od writes it":
        return
    written = WRITINGS[writing](PLAIN)
    assert REDACTED in scrub(f"the server says {written}", [PLAIN])


@pytest.mark.spec("R-SEC-4")
def test_shell_quoting_and_tables_leave_nothing_of_an_ordinary_key() -> None:
    redactor = knowing(PLAIN)
    for text in (f"export K={shlex.quote(PLAIN)}", f"| {PLAIN} | x |", f"{PLAIN}{PLAIN}", f"x{PLAIN[:-1]}{PLAIN}"):
        assert PLAIN not in redactor.mask_known(text)


@pytest.mark.spec("R-SEC-4")
def test_each_line_of_a_long_secret_is_known_by_itself() -> None:
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEF", "AASCBKcwggSjAgEAAoIBAQC7VJTU"]
    redactor = knowing("\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"]))
    assert redactor.mask_known(f"a {lines[1]} b") == f"a {REDACTED} b"
    assert REDACTED in redactor.mask_known("".join(lines))
    assert redactor.mask_known("-----BEGIN PRIVATE KEY-----") == "-----BEGIN PRIVATE KEY-----"


@pytest.mark.spec("R-SEC-4")
def test_a_password_of_a_few_letters_is_sought_as_it_is_and_not_across_words() -> None:
    redactor = knowing("theend")
    assert redactor.mask_known("the end of theend") == f"the end of {REDACTED}"


@pytest.mark.spec("R-SEC-4")
def test_ordinary_words_are_not_taken_for_a_short_value_in_another_case() -> None:
    redactor = knowing("TheEnd", "Correct-Horse")
    assert redactor.mask_known("theend, THEEND, TheEnd") == f"theend, THEEND, {REDACTED}"
    assert redactor.mask_known("correct-horse CORRECT-HORSE") == f"{REDACTED} {REDACTED}"


@pytest.mark.spec("R-SEC-4")
def test_secrets_of_the_hosts_environment_are_known_and_its_paths_and_words_are_not() -> None:
    redactor = SecretRedactor()
    redactor.remember_environment(
        {
            "ACME_API_KEY": "acme-0123456789",
            "GH_TOKEN": "ghx0123456789",
            "DB_PASSWORD": "Corr3ct-horse",
            "SSH_KEY": "/home/me/.ssh/id",
            "PRIMARY_KEY": "identifier",
            "PIN_TOKEN": "12345678",
            "KEYBOARD": "de-latin1-x",
        }
    )
    assert sorted(redactor.values()) == ["Corr3ct-horse", "acme-0123456789", "ghx0123456789"]


@pytest.mark.spec("R-SEC-5")
@given(
    st.lists(
        st.sampled_from(
            [
                *[w(PLAIN) for w in WRITINGS.values()],
                "words ",
                "\n",
                " ",
                PLAIN[:9],
                PLAIN[5:],
                "tok-",
                "0",
                "73 6b",
                "dG9r",
                "\u200b",
                "\u200b".join(PLAIN),
                "&#11",
                "\\u007",
            ]
        ),
        max_size=5,
    ),
    st.lists(st.integers(1, 60), min_size=1, max_size=40),
)
def test_a_stream_says_exactly_what_the_whole_text_would(parts: list[str], sizes: list[int]) -> None:
    redactor = knowing(PLAIN, "zzzzzz", "k0L1m2--more-of-it")
    text, masker, out, at = "".join(parts), redactor.masker(), [], 0
    while at < len(text):
        size = sizes[len(out) % len(sizes)]
        out.append(masker.feed(text[at : at + size]))
        at += size
    assert "".join((*out, masker.flush())) == redactor.mask_known(text)


def test_an_endless_repetition_is_masked_without_being_held() -> None:
    masker = knowing("zzzzzzzz").masker()
    shown = [masker.feed("z" * 50) for _ in range(200)]
    assert "".join(shown) == REDACTED
    assert len(masker._held) < 10
    assert masker.feed(" end") + masker.flush() == " end"


@pytest.mark.spec("R-SEC-4")
def test_two_hundred_secrets_cost_little_whatever_the_text() -> None:
    rng = random.Random(1)
    letters = string.ascii_letters + string.digits
    values = [f"sk-proj-{''.join(rng.choices(letters, k=40))}" for _ in range(200)]
    redactor = knowing(*values)
    for text in ("sk-proj-" * 125_000, "lorem ipsum " * 83_000, "0" * 1_000_000, rng.randbytes(500_000).hex()):
        began = time.thread_time()
        assert redactor.mask_known(text) == text
        assert time.thread_time() - began < 5, text[:20]
    assert redactor.mask_known(" ".join(values)) == " ".join([REDACTED] * 200)

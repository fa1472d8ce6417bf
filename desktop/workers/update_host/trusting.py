"""What a server offers, as far as it is signed by those whom this build trusts.

The library holds to The Update Framework: who signs, with how many keys, until when; nothing older than what was seen
before; no mixture of two states. Here its refusals are put into words, and what was signed is read with care for all
that, because it is as long as somebody likes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from tuf.api import exceptions
from tuf.api.metadata import TargetFile
from tuf.ngclient.config import UpdaterConfig
from tuf.ngclient.updater import Updater

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.hidden_characters import has_half_letters, has_hidden
from desktop.domain.text.json_text import read_json
from desktop.domain.updates.numbers import is_number
from desktop.domain.updates.rights import read_manifest
from desktop.workers.inside import CallError
from desktop.workers.update_host import limits
from desktop.workers.update_host.fetching import OneServer

METADATA, TARGETS = "metadata/", "targets/"
"""Where both lie below the address."""


@dataclass(frozen=True, slots=True)
class SignedOffer:
    """The newest version that a server offers for one system."""

    version: str
    """Its number."""
    date: str
    """The day of it, as 2026-11-20."""
    package: TargetFile
    """What is fetched."""
    unpacked: int
    """Bytes that it takes on the disk."""
    rights: bytes
    """The list of what it may do."""
    news: tuple[str, ...]
    """What is new, a line each."""

    @property
    def digest(self) -> str:
        """What a person has seen is this one, and no other."""
        seen = (self.version, self.package.path, self.package.length, sorted(self.package.hashes.items()), self.date)
        return hashlib.sha256(json.dumps([*seen, hashlib.sha256(self.rights).hexdigest()]).encode()).hexdigest()


class Trusted:
    """What is signed below one address. ``folder`` keeps what was seen, so that nothing older is taken later. Each
    method blocks; raises CallError with words for a person."""

    def __init__(self, server: OneServer, address: str, host: str, root: bytes, folder: str) -> None:
        self._host, self.server, self.folder = host, server, folder
        self._address = address if address.endswith("/") else f"{address}/"
        tempfile.tempdir = folder
        with self._in_words():
            self._updater = Updater(
                folder,
                self._address + METADATA,
                fetcher=server,
                config=UpdaterConfig(max_root_rotations=64, prefix_targets_with_hash=False),
                bootstrap=root,
            )
            self._updater.refresh()

    def newest(self, system: str) -> SignedOffer | None:
        """None: there is nothing for this system."""
        with self._in_words():
            said = self._small(f"{system}.json", limits.NEWEST)
            return None if said is None else self._offer(said)

    def url(self, target: TargetFile) -> str:
        """Where a signed file lies."""
        return f"{self._address}{TARGETS}{target.path}"

    @contextlib.contextmanager
    def verified(self, target: TargetFile, path: str) -> Iterator[None]:
        """What the body writes to ``path`` is the signed file, whole."""
        with self._in_words():
            yield
            with open(path, "rb") as file:
                target.verify_length_and_hashes(file)

    def _small(self, name: str, most: int) -> bytes | None:
        target = self._updater.get_targetinfo(name)
        if target is None:
            return None
        if target.length > most:
            raise CallError("updates.too_long", f"{self._host} offers a file that is too long ({name}).")
        path = os.path.join(self.folder, "small.part")
        self._updater.download_target(target, path, self._address + TARGETS)
        with open(path, "rb") as file:
            data = file.read()
        os.unlink(path)
        return data

    def _offer(self, said: bytes) -> SignedOffer:
        try:
            found = read_json(said)
            version, date, unpacked, news = (found[key] for key in ("version", "date", "unpacked", "news"))
            package, rights = found["package"], found["rights"]
        except (ValueError, RecursionError, KeyError, TypeError):
            raise self._unreadable() from None
        plain = (is_number(version), _is_day(date), type(unpacked) is int, isinstance(news, list))
        if not (all(plain) and isinstance(package, str) and isinstance(rights, str)):
            raise self._unreadable()
        target, listed = self._updater.get_targetinfo(package), self._small(rights, limits.RIGHTS)
        if target is None or listed is None:
            raise self._unreadable()
        if target.length > limits.PACKAGE or not 0 < unpacked <= limits.UNPACKED:
            raise CallError("updates.too_long", f"Assent {version} is larger than an update may be.")
        read_manifest(listed)
        lines = (line for line in news[: limits.NEWS] if isinstance(line, str) and is_plain(line))
        return SignedOffer(version, date, target, unpacked, listed, tuple(line[: limits.LINE] for line in lines))

    def _unreadable(self) -> CallError:
        return CallError("updates.unreadable", f"What {self._host} offers is signed, but cannot be read.")

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except KnownError as error:
            raise CallError(error.code, f"{error} It comes from {self._host}.") from None
        except exceptions.DownloadHTTPError as error:
            raise CallError("updates.server", f"{self._host} answers {error.status_code}.") from None
        except (exceptions.RepositoryError, exceptions.DownloadError) as error:
            code, words = next((code, words) for kind, code, words in _REFUSALS if isinstance(error, kind))
            raise CallError(code, words.format(host=self._host)) from None


def is_plain(line: str) -> bool:
    """Whether a line about what is new can be seen as it is."""
    return not has_hidden(line) and not has_half_letters(line)


def _is_day(text: Any) -> bool:
    parts = text.split("-") if isinstance(text, str) and len(text) == 10 else ()
    return [len(part) for part in parts if part.isascii() and part.isdigit()] == [4, 2, 2]


_REFUSALS: tuple[tuple[type[Exception], str, str], ...] = (
    (
        exceptions.ExpiredMetadataError,
        "updates.expired",
        "What {host} offers was signed for a time that is over. Either it gives out something old, or the clock of "
        "this computer is wrong.",
    ),
    (
        exceptions.LengthOrHashMismatchError,
        "updates.altered",
        "{host} gives out something else than what was signed, or not all of it.",
    ),
    (exceptions.BadVersionNumberError, "updates.older", "{host} offers something older than it did before."),
    (exceptions.EqualVersionNumberError, "updates.older", "{host} offers something older than it did before."),
    (
        exceptions.UnsignedMetadataError,
        "updates.unsigned",
        "What {host} offers is not signed by those whom this Assent trusts.",
    ),
    (exceptions.DownloadLengthMismatchError, "updates.too_long", "{host} sends more than was signed, and is cut off."),
    (
        exceptions.RepositoryError,
        "updates.unreadable",
        "What {host} offers cannot be read, or is not signed as it has to be.",
    ),
    (exceptions.DownloadError, "updates.unreachable", "{host} cannot be read."),
)
"""The narrower kinds first."""

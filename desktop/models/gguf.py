"""What a GGUF file says of itself in its head: that it is a model, its name, what it was trained for.

Only the head is read, and no more of it than needed: the file comes from strangers.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from typing import Any, BinaryIO

from desktop.domain.errors import KnownError
from desktop.domain.servers.starting import ModelFile
from desktop.systems import open_flags

KEYS_MAX, TEXT_MAX, SHOWN_MAX = 500, 1 << 16, 120
BESIDE_MAX = 2000
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_FORMS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _LIST = 8, 9
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")


class _Odd(Exception):
    """The head is not as the format says."""


def read_model_file(path: str) -> ModelFile:
    """What the file says of itself. Raises KnownError with what is wrong about choosing it."""
    name = os.path.basename(path)
    if not _is_text(path):
        raise _refused("The file's name is no text that could be kept. Rename it, then choose it again.")
    part = _PART.search(name)
    if part is not None and part[1] != "00001":
        raise _refused(f"{name} is a later part of a model in {int(part[2])} files. Choose the first one.")
    try:
        with open(path, "rb", opener=_at_once) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise _Odd
            head = _head(file)
    except FileNotFoundError:
        raise _refused(f"{path} is not there any more. Choose another file.") from None
    except OSError as error:
        raise _refused(f"{name} cannot be read: {error.strerror}. Choose another file.") from None
    except (_Odd, struct.error, ValueError):  # the last for a path that cannot be one
        raise _refused(
            f"{name} is not a whole model file of llama.cpp (GGUF). Choose a file that ends in .gguf."
        ) from None
    kind = str(head.get("general.architecture") or "")
    if kind == "clip" or head.get("general.type") == "mmproj":
        raise _refused(f"{name} only lets another model see images. Choose the model's own file, in the same folder.")
    trained = head.get(f"{kind}.context_length")
    whole = isinstance(trained, int) and not isinstance(trained, bool) and 0 < trained < 1 << 32
    title = str(head.get("general.name") or name).strip()[:SHOWN_MAX] or name
    return ModelFile(path, title, about.st_size, trained if whole else None, _eyes(path))


def _at_once(path: str, flags: int) -> int:
    """Open it without waiting for somebody who writes, as in a pipe."""
    return os.open(path, flags | open_flags.NONBLOCK)


def _head(file: BinaryIO) -> dict[str, Any]:
    """The plain values before the first long list, where the words of the model begin."""
    if file.read(4) != b"GGUF":
        raise _Odd
    version, _tensors, keys = struct.unpack("<IQQ", _bytes(file, 20))
    if version not in (2, 3):
        raise _Odd
    found: dict[str, Any] = {}
    for _ in range(min(keys, KEYS_MAX)):
        name = _text(file)
        (form,) = struct.unpack("<I", _bytes(file, 4))
        if form == _LIST and not _passed(file):
            break
        if form == _TEXT:
            found[name] = _text(file)
        elif form in _FORMS:
            (found[name],) = struct.unpack(_FORMS[form], _bytes(file, _SIZES[form]))
        elif form != _LIST:
            raise _Odd
    return found


def _passed(file: BinaryIO) -> bool:
    """Go past a list; False where it is a long one of texts."""
    form, count = struct.unpack("<IQ", _bytes(file, 12))
    if form == _TEXT:
        if count > KEYS_MAX:
            return False
        for _ in range(count):
            _text(file)
    elif form in _SIZES and count < 1 << 32:
        file.seek(_SIZES[form] * count, os.SEEK_CUR)
    else:
        raise _Odd
    return True


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", _bytes(file, 8))
    if length >= 1 << 40:
        raise _Odd
    if length > TEXT_MAX:  # as a chat template can be
        file.seek(length, os.SEEK_CUR)
        return ""
    return _bytes(file, length).decode("utf-8", "replace")


def _bytes(file: BinaryIO, count: int) -> bytes:
    found = file.read(count)
    if len(found) != count:
        raise _Odd
    return found


def _eyes(path: str) -> str:
    """The one file in the same folder that makes a model see, as llama.cpp's tools name it. None where there are
    several: which is this model's cannot be told."""
    folder = os.path.dirname(path)
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(BESIDE_MAX), strict=False)]
    except OSError:
        return ""
    own = [n for n in names if n.lower().endswith(".gguf") and n.lower().startswith("mmproj") and _is_text(n)]
    return os.path.join(folder, own[0]) if len(own) == 1 else ""


def _is_text(path: str) -> bool:
    """Whether it has no bytes that are not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refused(sentence: str) -> KnownError:
    return KnownError(sentence, code="models.file")

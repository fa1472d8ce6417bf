"""Office files that are encrypted with a password: opened with it, in memory. Loaded only for such a file."""

from __future__ import annotations

import hashlib
import io
import logging
from xml.dom import minidom

from cryptography.hazmat.backends import default_backend
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from msoffcrypto.exceptions import DecryptionError, InvalidKeyError
from msoffcrypto.format.ooxml import OOXMLFile

from desktop.workers.inside import CallError

NEEDED = "It is encrypted and opens with a password only."
WRONG = "The password does not open it."


def warm() -> None:
    """What the first use would read from files, later there are none."""
    logging.getLogger("msoffcrypto").setLevel(logging.CRITICAL)
    logging.getLogger("olefile").setLevel(logging.CRITICAL)
    for name in ("sha1", "sha256", "sha384", "sha512"):
        hashlib.new(name, b"")
    step = Cipher(algorithms.AES(bytes(16)), modes.CBC(bytes(16)), backend=default_backend()).decryptor()
    step.update(bytes(16))
    step.finalize()
    minidom.parseString(b"<warm/>")


def unlocked(data: bytes, password: str) -> bytes:
    """The file without its encryption. Raises CallError."""
    if not password:
        raise CallError("document.password", NEEDED)
    made, opens = io.BytesIO(), False
    try:
        file = OOXMLFile(io.BytesIO(data))
        file.load_key(password=password, verify_password=True)
        opens = True
        file.decrypt(made)
    except (MemoryError, RecursionError):
        raise
    except Exception as why:  # noqa: BLE001  # whatever a library makes of a file that is damaged, or made to hurt
        if isinstance(why, InvalidKeyError) and not opens:
            raise CallError("document.wrong_password", WRONG) from None
        if isinstance(why, DecryptionError) and "Unsupported" in str(why):
            words = "It is encrypted in a way that cannot be read here; save it without."
            raise CallError("document.encrypted", words) from None
        raise CallError("document.broken", "It is encrypted, and damaged or cut off.") from None
    return made.getvalue()

"""The keys that sign: one for each role, a file each, for their owner alone. They belong on no server; that of ``root``
belongs on no computer that is in a network."""

import os
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from securesystemslib.signer import CryptoSigner

ROLES = ("root", "targets", "snapshot", "timestamp")


def make_keys(folder: Path) -> None:
    """New keys. Raises OSError where there are some: they may be the only ones that updates can be signed with."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for role in ROLES:
        key = CryptoSigner.generate_ed25519().private_bytes
        descriptor = os.open(folder / f"{role}.pem", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)


def read_keys(folder: Path) -> Mapping[str, CryptoSigner]:
    """The keys by role; what is not there cannot sign. Raises ValueError for what is no key."""
    found = {}
    for role in ROLES:
        path = folder / f"{role}.pem"
        if path.exists():
            found[role] = CryptoSigner(load_pem_private_key(path.read_bytes(), None))
    return found

"""Files that hold keys or passwords, by their names and what stands in them: what is in them is kept nowhere."""

from __future__ import annotations

import os

_NAMES = frozenset(
    ".env .envrc .netrc _netrc .pgpass .my.cnf .htpasswd .git-credentials .npmrc .pypirc .dockercfg .vault-token "
    "credentials credentials.json credentials.toml secrets.json secrets.yaml secrets.yml secrets.toml "
    "service-account.json service_account.json kubeconfig authorized_keys shadow master.key terraform.tfstate "
    "terraform.tfstate.backup wallet.dat".split()
)
_PLACES = ("/.kube/config", "/.docker/config.json")
_BEGINNINGS = (".env.", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "ssh_host_")
_ENDINGS = tuple(
    ".pem .key .p12 .pfx .jks .keystore .kdb .kdbx .ppk .asc .gpg .pgp .p8 .pkcs12 .age .ovpn .keytab .tfvars "
    ".env".split()
)
_MARKS = (b"PRIVATE KEY-----", b"BEGIN PGP", b"PuTTY-User-Key-File", b"$ANSIBLE_VAULT", b"AGE-SECRET-KEY-")


def holds_keys(path: str, content: bytes) -> bool:
    """Whether a file is one for keys or passwords. Rather one too many than one too few: it costs an undo."""
    folded = path.casefold()
    name = os.path.basename(folded)
    named = name in _NAMES or name.startswith(_BEGINNINGS) or folded.endswith((*_ENDINGS, *_PLACES))
    return named or any(mark in content for mark in _MARKS)

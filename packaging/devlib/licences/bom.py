"""The list of parts as an SBOM in CycloneDX, made and judged by its own library.

Runs in the environment of ``dev.py package``, which has that library; ``python -m devlib.licences.bom --help``.
"""

from __future__ import annotations

import argparse
import re
import sys
import uuid
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cyclonedx.model import ExternalReference, ExternalReferenceType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component as Part
from cyclonedx.model.component import ComponentType
from cyclonedx.model.dependency import Dependency
from cyclonedx.model.license import DisjunctiveLicense, LicenseAcknowledgement, LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.spdx import is_supported_id
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from .components import FONT, RUNTIME, WHEEL, Component
from .listing import read_list
from .wheels import canonical

SPACE = uuid.UUID("6a1d7c36-8b0e-5a55-9c58-1f0c2f7d9f4e")
"""Of the serial numbers: the same build has the same one."""


def main(arguments: Sequence[str]) -> int:
    """Writes the file; 1 and the reasons when the official schema does not take it."""
    parser = argparse.ArgumentParser(prog="devlib.licences.bom", description=str(__doc__).splitlines()[0])
    parser.add_argument("--list", type=Path, required=True, help="resources/licences of what is packed")
    parser.add_argument("--out", type=Path, required=True)
    for name in ("version", "commit", "built", "kind"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args(arguments)
    wrong = write_bom(options.list, options.out, options.version, options.commit, options.built, options.kind)
    for one in wrong:
        print(one, file=sys.stderr)
    return 1 if wrong else 0


def write_bom(listed: Path, out: Path, version: str, commit: str, built: str, kind: str) -> list[str]:
    """Writes the SBOM of a package whose ``resources/licences`` is ``listed``, or says what the official schema does
    not take of it, and writes nothing."""
    text = made(read_list(listed), version, commit, built, kind)
    wrong = problems(text)
    if not wrong:
        out.write_text(text + "\n", "utf-8")
    return wrong


def problems(text: str) -> list[str]:
    """What the official schema does not take, in its strict form."""
    found = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text, all_errors=True)
    return [str(one.data.message)[:300] for one in found or ()]


def made(rows: Sequence[Component], version: str, commit: str, built: str, kind: str) -> str:
    """The SBOM of one package: the same rows give the same bytes."""
    bom = Bom(serial_number=uuid.uuid5(SPACE, f"{version} {commit} {kind}"))
    bom.metadata.timestamp = datetime.fromisoformat(built.replace("Z", "+00:00"))
    bom.metadata.component = root = Part(
        name="assent",
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref="assent",
        licenses=[DisjunctiveLicense(name="not chosen", acknowledgement=LicenseAcknowledgement.DECLARED)],
        properties=[Property(name="assent:commit", value=commit), Property(name="assent:kind", value=kind)],
    )
    refs = {row: _ref(row) for row in rows}
    parts = {refs[row]: _part(row, refs[row]) for row in rows}
    for part in parts.values():
        bom.components.add(part)
    owners = {canonical(row.name): refs[row] for row in rows if row.kind in (WHEEL, RUNTIME)}
    below: dict[str, list[Part]] = {}
    for row in rows:
        for owner in {owners.get(canonical(name), "assent") for name in row.inside} or {"assent"}:
            below.setdefault(owner, []).append(parts[refs[row]])
    for name, part in {"assent": root, **parts}.items():
        bom.dependencies.add(Dependency(part.bom_ref, [Dependency(one.bom_ref) for one in below.get(name, ())]))
    return str(JsonV1Dot6(bom).output_as_string(indent=1))


def _part(row: Component, ref: str) -> Part:
    kinds = {FONT: ComponentType.DATA, RUNTIME: ComponentType.PLATFORM}
    links = [
        ExternalReference(type=ExternalReferenceType.SOURCE_DISTRIBUTION, url=XsUri(one))
        for one in row.source.split()
        if re.fullmatch(r"https?://\S+", one)
    ]
    return Part(
        name=row.name,
        version=row.version or None,
        type=kinds.get(row.kind, ComponentType.LIBRARY),
        bom_ref=ref,
        purl=PackageURL.from_string(row.purl) if row.purl else None,
        copyright=row.copyright or None,
        description=row.about or None,
        licenses=[_licence(row.licence)],
        external_references=links,
        properties=[
            Property(name="assent:licence-used", value=" AND ".join(row.used)),
            *(Property(name="assent:licence-text", value=f"resources/licences/texts/{name}.txt") for name in row.texts),
        ],
    )


def _licence(expression: str) -> DisjunctiveLicense | LicenseExpression:
    if is_supported_id(expression):
        return DisjunctiveLicense(id=expression, acknowledgement=LicenseAcknowledgement.DECLARED)
    return LicenseExpression(expression, acknowledgement=LicenseAcknowledgement.DECLARED)


def _ref(row: Component) -> str:
    return "/".join(filter(None, (row.kind, row.name, row.version, row.licence))).replace(" ", "-")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

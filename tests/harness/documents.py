"""Small documents, as the programs of offices write them, for tests that read them."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from msoffcrypto.method.ecma376_agile import ECMA376Agile

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
Relations = Sequence[tuple[str, str, str]]


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """A packed document of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            package.writestr(name, content)
    return made.getvalue()


def with_files(data: bytes, files: Mapping[str, str | bytes]) -> bytes:
    """A packed document with more files in it."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        return packed({**{name: package.read(name) for name in package.namelist()}, **files})


def relations(found: Relations) -> str:
    """(id, kind, target) as Office writes them; a target on the web is one outside."""
    lines = [
        f'<Relationship Id="{key}" Type="{KIND}/{kind}" Target="{escape(target)}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if '://' in target else ''}/>"
        for key, kind, target in found
    ]
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{"".join(lines)}</Relationships>'


def office(main: str, content: str, more: Mapping[str, str | bytes] | None = None, inside: Relations = ()) -> bytes:
    """An Office file with its main part; ``inside``: what that refers to."""
    folder, _, base = main.rpartition("/")
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations([("rId1", "officeDocument", main)]),
            main: content,
            f"{folder}/_rels/{base}.rels": relations(inside),
            **(more or {}),
        }
    )


def run(text: str, looks: str = "") -> str:
    """A run of a Word document."""
    return f"<w:r><w:rPr>{looks}</w:rPr><w:t xml:space='preserve'>{escape(text)}</w:t></w:r>"


def word(body: str, more: Mapping[str, str | bytes] | None = None, inside: Relations = ()) -> bytes:
    """A Word document: paragraphs as XML."""
    content = f"<w:document {W} {R}><w:body>{body}</w:body></w:document>"
    return office("word/document.xml", content, more, inside)


def paragraph(*runs: str) -> str:
    """A paragraph of runs."""
    return f"<w:p>{''.join(runs)}</w:p>"


def workbook(
    sheets: Mapping[str, str], *, states: Mapping[str, str] | None = None, rest: str = "", **more: str
) -> bytes:
    """A workbook: rows as XML by the name of their sheet. ``more``: further files of ``xl``, by their base name."""
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{at}" r:id="s{at}" state="{(states or {}).get(name, "visible")}"/>'
        for at, name in enumerate(sheets, 1)
    )
    files: dict[str, str | bytes] = {
        f"xl/worksheets/sheet{at}.xml": f"<worksheet {S}>{rows}</worksheet>"
        for at, rows in enumerate(sheets.values(), 1)
    }
    inside = [(f"s{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)]
    for name, content in more.items():
        files[f"xl/{name}.xml"] = content
        inside.append((f"m{name}", name, f"{name}.xml"))
    return office("xl/workbook.xml", f"<workbook {S} {R}><sheets>{listed}</sheets>{rest}</workbook>", files, inside)


def presentation(slides: Sequence[str]) -> bytes:
    """A presentation: shapes as XML, slide by slide."""
    listed = "".join(f'<p:sldId id="{255 + at}" r:id="s{at}"/>' for at in range(1, len(slides) + 1))
    files = {
        f"ppt/slides/slide{at}.xml": f"<p:sld {P} {A} {R}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        for at, shapes in enumerate(slides, 1)
    }
    inside = [(f"s{at}", "slide", f"slides/slide{at}.xml") for at in range(1, len(slides) + 1)]
    size = "<p:sldSz cx='9144000' cy='6858000'/>"
    head = f"<p:presentation {P} {R}><p:sldIdLst>{listed}</p:sldIdLst>{size}</p:presentation>"
    return office("ppt/presentation.xml", head, files, inside)


def shape(text: str, *, kind: str = "", place: str = "") -> str:
    """A text on a slide; ``kind`` of its placeholder, ``place`` as XML."""
    holder = f'<p:ph type="{kind}"/>' if kind else ""
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='2' name=''/><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:spPr>{place}</p:spPr>"
        f"<p:txBody><a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def pdf(
    pages: Sequence[str], *, extra: Sequence[str] = (), trailer: str = "", catalog: str = "", resources: str = ""
) -> bytes:
    """A PDF: what each page draws, as its own commands; font ``/F1`` is Helvetica. ``extra``: further objects, from
    number 4 + 2 * pages on; ``resources`` names what of them the pages use."""
    first = 4
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    bodies: list[bytes] = [one.encode() for one in objects]
    for at, commands in enumerate(pages):
        content = zlib.compress(commands.encode("latin-1"))
        bodies.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {first + 2 * at + 1} 0 R "
            f"/Resources << /Font << /F1 3 0 R >> {resources} >> >>".encode()
        )
        bodies.append(
            f"<< /Length {len(content)} /Filter /FlateDecode >>\nstream\n".encode() + content + b"\nendstream"
        )
    bodies += [one.encode("latin-1") for one in extra]
    made = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(bodies, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(made)
    made += f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n".encode()
    made += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    made += f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(made)


def drawn(text: str, *, at: tuple[int, int] = (72, 720), size: float = 12, looks: str = "") -> str:
    """A line of text on a page of a PDF."""
    words = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /F1 {size} Tf {looks} {at[0]} {at[1]} Td ({words}) Tj ET\n"


def form(commands: str, head: str = "") -> str:
    """A drawing that pages of a PDF use (a Form XObject), as one of ``extra``."""
    return (
        f"<< /Type /XObject /Subtype /Form /BBox [0 0 2000 2000] /Resources << /Font << /F1 3 0 R >> >> {head} "
        f"/Length {len(commands)} >>\nstream\n{commands}\nendstream"
    )


def open_text(body: str, automatic: str = "") -> bytes:
    """An OpenDocument text: paragraphs and styles as XML."""
    return open_document("text", body, automatic)


def open_document(kind: str, body: str, automatic: str = "", styles: str = "") -> bytes:
    """A file of OpenDocument, of kind ``text``, ``spreadsheet`` or ``presentation``; ``styles`` are its own file's."""
    names = ("office", "text", "style", "table", "presentation")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    spaces += (
        ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
        ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
        ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
        ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    )
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    files: dict[str, str | bytes] = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content}
    if styles:
        files["styles.xml"] = f"<office:document-styles {spaces}>{styles}</office:document-styles>"
    return packed(files)


def book(chapters: Sequence[str], title: str = "A book") -> bytes:
    """A book in EPUB: chapters as HTML."""
    items = "".join(
        f'<item id="c{at}" href="c{at}.xhtml" media-type="application/xhtml+xml"/>' for at in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    root = (
        "<package xmlns='http://www.idpf.org/2007/opf'><metadata xmlns:dc='http://purl.org/dc/elements/1.1/'>"
        f"<dc:title>{escape(title)}</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>"
        "<rootfile full-path='OEBPS/content.opf'/></rootfiles></container>"
    )
    files: dict[str, str | bytes] = {"mimetype": "application/epub+zip", "META-INF/container.xml": container}
    files["OEBPS/content.opf"] = root
    files |= {f"OEBPS/c{at}.xhtml": text for at, text in enumerate(chapters)}
    return packed(files)


def locked_office(data: bytes, password: str) -> bytes:
    """A file of Office encrypted with a password, as Office does it. (The library writes none that are too small.)"""
    data = with_files(data, {"docProps/filling.bin": os.urandom(6_000)}) if data.startswith(b"PK") else data
    return bytes(ECMA376Agile.encrypt(password, io.BytesIO(data)))


_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def locked_pdf(text: str, password: str) -> bytes:
    """A PDF of one page that opens with a password (40 bits of RC4, as PDF 1.1 has it)."""
    padded = (password.encode("latin-1") + _PADDING)[:32]
    owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
    ident = bytes(range(16))
    key = hashlib.md5(padded + owner + b"\xfc\xff\xff\xff" + ident).digest()[:5]
    user = _rc4(key, _PADDING)
    plain = drawn(text).encode("latin-1")
    content = _rc4(hashlib.md5(key + (5).to_bytes(3, "little") + b"\0\0").digest()[:10], plain)
    lock = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{owner.hex()}> /U <{user.hex()}> >>"
    shell = pdf([" " * len(plain)], extra=[lock], trailer=f"/Encrypt 6 0 R /ID [<{ident.hex()}> <{ident.hex()}>]")
    start = shell.index(b"5 0 obj")
    end = shell.index(b"endobj", start)
    body = f"5 0 obj\n<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream\n"
    return shell[:start] + body + shell[end:]  # the table of places is wrong then, and readers mend that


def _rc4(key: bytes, data: bytes) -> bytes:
    box, j = list(range(256)), 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    i = j = 0
    made = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        made.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(made)

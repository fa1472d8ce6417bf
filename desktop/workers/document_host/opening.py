"""Which kind of document some bytes are: by what is in them, never by their name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.domain.loading.lazy import lazy_module
from desktop.workers.document_host.open_document.sheets import OpenSheets
from desktop.workers.document_host.open_document.slides import OpenSlides
from desktop.workers.document_host.open_document.text import OpenText
from desktop.workers.document_host.package import Package
from desktop.workers.document_host.pdf import Pdf
from desktop.workers.document_host.reading import DocumentFile
from desktop.workers.document_host.sheets import Workbook
from desktop.workers.document_host.slides import Slides
from desktop.workers.document_host.texts import charsets
from desktop.workers.document_host.texts.plain import Book, HtmlPage, Notebook, TextTable
from desktop.workers.document_host.word import WordDocument
from desktop.workers.document_host.xml import outermost
from desktop.workers.inside import CallError

if TYPE_CHECKING:
    from desktop.workers.document_host import locked
else:
    locked = lazy_module("desktop.workers.document_host.locked")

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEAD = 1024
_OPEN = {"text": OpenText, "spreadsheet": OpenSheets, "presentation": OpenSlides}
"""By the kind that the file says."""
_OFFICE = {"document": WordDocument, "workbook": Workbook, "presentation": Slides}
"""By the outermost element of the main part."""


def opened(data: bytes, name: str, password: str) -> DocumentFile:
    """The document. ``name`` decides only between kinds of text, which have no mark of their own. Raises CallError."""
    if not data:
        raise CallError("document.empty", "The file is empty.")
    if b"%PDF-" in data[:_HEAD]:
        return Pdf(data, password)
    if data.startswith(b"PK"):
        return _packed(Package(data))
    if is_locked_office(data):
        return _packed(Package(locked.unlocked(data, password)))
    if data.startswith(_OLE):
        words = (
            "It is in the format of Office before 2007 (.doc, .xls, .ppt); save it in today's (.docx, .xlsx, .pptx)."
        )
        raise CallError("document.unknown", words)
    ending = name.lower().rpartition(".")[2]
    if data.startswith(b"{\\rtf"):
        raise CallError("document.unknown", "It is rich text (RTF); save it as .docx or .pdf.")
    is_table = ending in ("csv", "tsv", "tab")
    if not charsets.is_text(data, is_table=is_table):
        raise CallError("document.unknown", "It is no document that can be read here.")
    if ending == "ipynb":
        return Notebook(data)
    return TextTable(*charsets.text_of(data)) if is_table else HtmlPage(data)


def _packed(package: Package) -> DocumentFile:
    if package.has("mimetype"):
        mime = package.read("mimetype")[:200].decode("ascii", "replace").strip()
        if mime == "application/epub+zip":
            return Book(package)
        kind = mime.removeprefix("application/vnd.oasis.opendocument.").partition("-")[0]
        if kind in _OPEN:
            return _OPEN[kind](package)
        drawing = "an OpenDocument drawing; save it as .pdf" if kind == "graphics" else "an archive"
        raise CallError("document.unknown", f"It is {drawing}, to be read here.")
    if package.has("[Content_Types].xml"):
        return _office(package)
    if package.has("META-INF/container.xml"):
        return Book(package)
    raise CallError("document.unknown", "It is an archive; unpack it, and attach what is to be read.")


def _office(package: Package) -> DocumentFile:
    relations = package.relations("")
    main = next((one.target for one in relations.values() if one.kind == "officeDocument" and not one.outside), "")
    name = outermost(package.open(main)) if package.has(main) else "none"
    if not name:
        raise CallError("document.broken", "Its main part is no XML.")
    kind = _OFFICE.get(name)
    if kind is None:
        raise CallError("document.unknown", "It is packed like an Office file, and is none that can be read here.")
    document = kind(package, main)
    _tell_rest(document, package)
    return document


def _tell_rest(document: DocumentFile, package: Package) -> None:
    """What else is in it, in words."""
    if any(name.lower().endswith("vbaproject.bin") for name in package.names):
        document.note("It holds macros; none was run.")
    if any("/embeddings/" in name for name in package.names):
        document.note("Other files are embedded in it; they were not opened.")
    if any(name.lower().endswith("connections.xml") for name in package.names):
        document.note("It gets data from elsewhere; that was not fetched.")


def load_for(data: bytes) -> None:
    """What only some documents need, and what that would read from files later, when there are none any more."""
    if is_locked_office(data):
        locked.warm()
    elif not (data.startswith((b"PK", _OLE)) or b"%PDF-" in data[:_HEAD]) and not _is_utf8(data):
        charsets.warm()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\x00" not in data


def is_locked_office(data: bytes) -> bool:
    """Whether a file is one of Office that is encrypted with a password: it lies in a container like those of before
    2007."""
    return data.startswith(_OLE) and "EncryptedPackage".encode("utf-16-le") in data

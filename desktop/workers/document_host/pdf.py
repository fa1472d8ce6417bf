"""PDF, read by PDFium: the text of each page, its comments and fields, what of it is not to be seen, its picture."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import Any

import pypdfium2
import pypdfium2.raw as c

from desktop.workers.document_host import limits
from desktop.workers.document_host.png import png
from desktop.workers.document_host.reading import DocumentFile, broken, hidden, one_line
from desktop.workers.inside import CallError

NEEDS_PASSWORD, NOT_SUPPORTED = 4, 5
WIDGET, LINK, POPUP = 20, 2, 16
INVISIBLE = (3, 7)
"""Ways of drawing text that draw nothing: neither filled nor stroked, and only as a clip."""
TINY = 1.5
"""Points of a font that nobody can read."""
OBJECTS = 20_000
"""Things drawn on one page that are looked at for hidden text."""
ANNOTATIONS = 500
"""Comments and fields of one page."""
VALUE = 4_000
"""Characters of one comment or field."""
GARBLED_SHARE = 0.25
GARBLED = "[The fonts of this page do not say which letters they draw: it can only be looked at, as a picture.]"
LOOK = 100
"""Dots an inch of the picture in which text of the colour of its ground is looked for."""


class Pdf(DocumentFile):
    """A PDF. ``lines`` and ``picture`` load one page each and let it go again."""

    kind = "PDF"
    unit = "page"
    pictures = True

    def __init__(self, data: bytes, password: str) -> None:
        super().__init__()
        try:
            self._pdf = pypdfium2.PdfDocument(data, password=password or None)
        except pypdfium2.PdfiumError as error:
            if error.err_code == NEEDS_PASSWORD:
                raise _locked(bool(password)) from None
            if error.err_code == NOT_SUPPORTED:
                words = "It is encrypted in a way that cannot be read here (by certificates, say)."
                raise CallError("document.encrypted", words) from None
            raise broken("PDF") from None
        self._count = len(self._pdf)
        if self._count < 1:
            raise broken("PDF")
        self.title = one_line(self._pdf.get_metadata_value("Title"))[: limits.NAME]
        self._what_else()
        if self._pdf.get_formtype():
            self._pdf.init_forms()

    @property
    def count(self) -> int:
        return self._count

    def lines(self, part: int) -> Iterator[str]:
        page = self._page(part)
        if page is None:
            yield "[This page is damaged and was not read.]"
            return
        try:
            yield from self._lines(page)
        finally:
            page.close()

    def is_scan(self, part: int) -> bool:
        page = self._page(part)
        if page is None:
            return False
        try:
            text = _text(page.get_textpage())
            return (one_line(text) == "" and c.FPDFPage_CountObjects(page) > 0) or _is_garbled(text)
        finally:
            page.close()

    def picture(self, part: int, width: int) -> bytes:
        page = self._page(part)
        if page is None:
            raise CallError("document.damaged_page", f"Page {part} is damaged and cannot be drawn.")
        try:
            return _drawn(page, width)
        finally:
            page.close()

    def _page(self, part: int) -> Any:
        try:
            return self._pdf[part - 1]
        except pypdfium2.PdfiumError:
            return None

    def _lines(self, page: Any) -> Iterator[str]:
        text = page.get_textpage()
        words = _text(text)
        if _is_garbled(words):
            yield GARBLED
            return
        for line in words.split("\n"):
            yield one_line(line)
        unseen = " ".join(_unseen(page, text))[: limits.HIDDEN]
        if unseen:
            yield ""
            yield hidden("Hidden: this text of the page is not to be seen on it", unseen)
        yield from _annotations(page)

    def _what_else(self) -> None:
        if (scripts := c.FPDFDoc_GetJavaScriptActionCount(self._pdf)) > 0:
            self.note(f"It holds scripts ({scripts}); none was run.")
        if (files := self._pdf.count_attachments()) > 0:
            self.note(f"It holds files ({files}); none was opened.")
        if self._pdf.get_formtype() in (c.FORMTYPE_XFA_FULL, c.FORMTYPE_XFA_FOREGROUND):
            self.note("It is a form of the kind XFA, of which only what every reader shows was read.")


def _locked(tried: bool) -> CallError:
    words = "The password does not open it." if tried else "It is encrypted and opens with a password only."
    return CallError("document.password", words, {"tried": tried})


def _text(text: Any) -> str:
    return str(text.get_text_range()).replace("\ufffe\r\n", "").replace("\ufffe", "").replace("\r", "")


def _is_garbled(text: str) -> bool:
    """Whether the letters of a page are numbers that mean something in its own fonts alone."""
    letters = [letter for letter in text if not letter.isspace() or letter in "\x1c\x1d\x1e\x1f\x0b\x0c"]
    odd = sum(letter < " " or "\x7f" <= letter < "\xa0" or "\ue000" <= letter <= "\uf8ff" for letter in letters)
    return odd > GARBLED_SHARE * len(letters)


def _annotations(page: Any) -> Iterator[str]:
    for index in range(min(c.FPDFPage_GetAnnotCount(page), ANNOTATIONS)):
        annotation = c.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = c.FPDFAnnot_GetSubtype(annotation)
        if kind == WIDGET:
            name, value = _string(annotation, b"T"), _string(annotation, b"V")
            if value and value != "Off":
                yield f"[Field {name or 'without a name'}: {value}]"
        elif kind not in (LINK, POPUP) and (words := _string(annotation, b"Contents")):
            by = _string(annotation, b"T")
            yield f"[Comment{f' by {by}' if by else ''}: {words}]"
        c.FPDFPage_CloseAnnot(annotation)


def _string(annotation: Any, key: bytes) -> str:
    size = c.FPDFAnnot_GetStringValue(annotation, key, None, 0)  # all of it: a short buffer gets nothing
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size + 2)
    if c.FPDFAnnot_GetStringValue(annotation, key, ctypes.cast(buffer, ctypes.POINTER(c.FPDF_WCHAR)), size) > size:
        return ""
    return one_line(buffer.raw[:size].decode("utf-16-le", "replace"))[:VALUE]


def _unseen(page: Any, text: Any) -> Iterator[str]:
    """Texts that are drawn so that nobody sees them: not at all, outside the page, too small, or in the colour of what
    is behind them."""
    left, bottom, right, top = page.get_bbox()
    ground = _Ground(page)
    for index in range(min(c.FPDFPage_CountObjects(page), OBJECTS)):
        one = c.FPDFPage_GetObject(page, index)
        if c.FPDFPageObj_GetType(one) != c.FPDF_PAGEOBJ_TEXT:
            continue
        box = _box(one)
        outside = box is not None and (box[0] >= right or box[2] <= left or box[1] >= top or box[3] <= bottom)
        tiny = box is not None and 0 < box[3] - box[1] < TINY and _font_size(one) < 2 * TINY
        if (
            c.FPDFTextObj_GetTextRenderMode(one) in INVISIBLE
            or outside
            or tiny
            or (box is not None and _is_pale(one) and ground.is_plain(box))
        ) and (words := one_line(_words(one, text))):
            yield words


def _box(one: Any) -> tuple[float, float, float, float] | None:
    sides = [ctypes.c_float() for _ in range(4)]
    if not c.FPDFPageObj_GetBounds(one, *sides):
        return None
    left, bottom, right, top = (side.value for side in sides)
    return (left, bottom, right, top) if all(map(math.isfinite, (left, bottom, right, top))) else None


def _font_size(one: Any) -> float:
    size, matrix = ctypes.c_float(), c.FS_MATRIX()
    c.FPDFTextObj_GetFontSize(one, size)
    c.FPDFPageObj_GetMatrix(one, matrix)
    return float(abs(size.value) * max(abs(matrix.d), abs(matrix.b)))


def _is_pale(one: Any) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not c.FPDFPageObj_GetFillColor(one, red, green, blue, alpha):
        return False
    return alpha.value < 16 or min(red.value, green.value, blue.value) > 235


def _words(one: Any, text: Any) -> str:
    size = c.FPDFTextObj_GetText(one, text, None, 0)  # all of it: a short buffer gets nothing
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size + 2)
    c.FPDFTextObj_GetText(one, text, ctypes.cast(buffer, ctypes.POINTER(c.FPDF_WCHAR)), size)
    return buffer.raw[: min(size, 4 * VALUE)].decode("utf-16-le", "replace").rstrip("\x00")


class _Ground:
    """The page as it is drawn, made when it is first asked for."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._bitmap: Any = None

    def is_plain(self, box: tuple[float, float, float, float]) -> bool:
        """Whether nothing at all is to be seen in a place of the page."""
        if self._bitmap is None:
            scale = min(
                LOOK / 72, math.sqrt(limits.PIXELS / 4 / max(1.0, self._page.get_width() * self._page.get_height()))
            )
            self._bitmap = self._page.render(scale=scale, grayscale=True)
            self._place = self._bitmap.get_posconv(self._page)
            self._pixels = memoryview(self._bitmap.buffer).cast("B")
        found = [self._place.to_bitmap(x, y) for x, y in ((box[0], box[1]), (box[2], box[3]))]
        across = sorted(min(max(0, x), self._bitmap.width - 1) for x, _ in found)
        down = sorted(min(max(0, y), self._bitmap.height - 1) for _, y in found)
        seen: set[int] = set()
        for y in range(down[0], down[1] + 1):
            at = y * self._bitmap.stride
            seen.update(self._pixels[at + across[0] : at + across[1] + 1])
            if len(seen) > 1 and max(seen) - min(seen) > 24:
                return False
        return True


def _drawn(page: Any, width: int) -> bytes:
    across, down = page.get_width(), page.get_height()
    if not (0 < across < 1e6 and 0 < down < 1e6):
        raise CallError("document.no_picture", "The page has no size that can be drawn.")
    wide = min(width, limits.WIDTH) - 1e-3  # it is rounded up
    scale = min(wide / across, math.sqrt(limits.PIXELS / (across * down)))
    bitmap = page.render(scale=scale, rev_byteorder=True, bitmap_maker=pypdfium2.PdfBitmap.new_native)
    try:
        if bitmap.n_channels == 3:
            return png(bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride)
        raise CallError("document.no_picture", "The page cannot be drawn.")
    finally:
        bitmap.close()

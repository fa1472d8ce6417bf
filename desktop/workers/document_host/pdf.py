"""PDF, read by PDFium: the text of each page, its comments and fields, what of it is not to be seen, its picture."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import Any

import pypdfium2
import pypdfium2.raw as c

from desktop.domain.files.documents import Box
from desktop.domain.text.passages import occurrences, passage
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
FINE = 10_000
"""Steps in which a place on a page is told."""
FORMS = 12
"""Drawings inside each other."""
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
        self._looked = (0, False)  # the page that was read last, and whether it is a picture without text

    @property
    def count(self) -> int:
        return self._count

    def lines(self, part: int) -> Iterator[str]:
        page = self._page(part)
        if page is None:
            yield "[This page is damaged and was not read.]"
            return
        try:
            yield from self._lines(page, part)
        finally:
            page.close()

    def is_scan(self, part: int) -> bool:
        if self._looked[0] == part:
            return self._looked[1]
        page = self._page(part)
        if page is None:
            return False
        try:
            return _without_text(page, _text(page.get_textpage()))
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

    def marks(self, part: int, words: str, *, cited: bool) -> list[list[Box]]:
        page = self._page(part)
        if page is None:
            return []
        try:
            text = page.get_textpage()
            letters = _letters(text)
            found = [passage(letters, words)] if cited else occurrences(letters, words)
            return [_boxes(page, text, *one) for one in found[: limits.MARKS] if one is not None]
        finally:
            page.close()

    def _page(self, part: int) -> Any:
        try:
            return self._pdf[part - 1]
        except pypdfium2.PdfiumError:
            return None

    def _lines(self, page: Any, part: int) -> Iterator[str]:
        text = page.get_textpage()
        words = _text(text)
        self._looked = part, _without_text(page, words)
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
    if tried:
        return CallError("document.wrong_password", "The password does not open it.")
    return CallError("document.password", "It is encrypted and opens with a password only.")


def _text(text: Any) -> str:
    return str(text.get_text_range()).replace("\ufffe\r\n", "").replace("\ufffe", "").replace("\r", "")


def _letters(text: Any) -> str:
    """The letters of a page, each in the place that PDFium numbers it by."""
    numbers = (c.FPDFText_GetUnicode(text, at) for at in range(min(text.count_chars(), limits.LETTERS)))
    drawn = (
        chr(one) if 31 < one < 0x110000 and not 0xD800 <= one < 0xE000 else "\n" if one == 10 else " "
        for one in numbers
    )
    return "".join(drawn)


def _boxes(page: Any, text: Any, start: int, end: int) -> list[Box]:
    """The boxes around a stretch of a page's text, one a line, as parts of its width and height."""
    made: list[Box] = []
    for at in range(min(c.FPDFText_CountRects(text, start, end - start), limits.LINES)):
        sides = [ctypes.c_double() for _ in range(4)]
        if not c.FPDFText_GetRect(text, at, *sides):
            continue
        left, top, right, bottom = (side.value for side in sides)
        corners = [_on_picture(page, x, y) for x, y in ((left, top), (right, bottom))]
        across, down = sorted(x for x, _ in corners), sorted(y for _, y in corners)
        box = across[0], down[0], across[1], down[1]
        if made and _same_line(made[-1], box):
            before = made.pop()
            box = before[0], min(before[1], box[1]), max(before[2], box[2]), max(before[3], box[3])
        made.append(box)
    return made


def _same_line(one: Box, other: Box) -> bool:
    shared = min(one[3], other[3]) - max(one[1], other[1])
    return other[0] >= one[0] and 2 * shared > min(one[3] - one[1], other[3] - other[1])


def _on_picture(page: Any, x: float, y: float) -> tuple[float, float]:
    across, down = ctypes.c_int(), ctypes.c_int()
    c.FPDF_PageToDevice(page, 0, 0, FINE, FINE, 0, x, y, across, down)
    return tuple(min(1.0, max(0.0, one.value / FINE)) for one in (across, down))  # type: ignore[return-value]


def _without_text(page: Any, text: str) -> bool:
    return (one_line(text) == "" and c.FPDFPage_CountObjects(page) > 0) or _is_garbled(text)


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
    """Texts that are drawn so that nobody sees them: not at all, outside the page, too small, in the colour of what is
    behind them, below what covers them, on a layer that is not shown."""
    left, bottom, right, top = page.get_bbox()
    ground = _Ground(page)
    for one, place in _texts(page):
        box = _box(one, place)
        outside = box is not None and (box[0] >= right or box[2] <= left or box[1] >= top or box[3] <= bottom)
        tiny = box is not None and 0 < box[3] - box[1] < TINY and _font_size(one, place) < 2 * TINY
        if (
            c.FPDFTextObj_GetTextRenderMode(one) in INVISIBLE
            or outside
            or tiny
            or (box is not None and ground.is_plain(box))
        ) and (words := one_line(_words(one, text))):
            yield words


def _texts(page: Any) -> Iterator[tuple[Any, _Matrix]]:
    """The texts that a page draws, also those inside of drawings that it uses (Form XObjects), each with the matrix
    that its place goes through."""
    count = 0
    waiting: list[tuple[Any, _Matrix, int]] = []
    for index in range(min(c.FPDFPage_CountObjects(page), OBJECTS)):
        waiting.append((c.FPDFPage_GetObject(page, index), _SAME, 0))
        while waiting and count < OBJECTS:
            one, place, depth = waiting.pop()
            count += 1
            kind = c.FPDFPageObj_GetType(one)
            if kind == c.FPDF_PAGEOBJ_TEXT:
                yield one, place
            elif kind == c.FPDF_PAGEOBJ_FORM and depth < FORMS:
                inside = _through(_matrix(one), place)
                inner = min(c.FPDFFormObj_CountObjects(one), OBJECTS - count)
                waiting += [(c.FPDFFormObj_GetObject(one, at), inside, depth + 1) for at in range(inner)]


_Matrix = tuple[float, float, float, float, float, float]
_SAME: _Matrix = (1, 0, 0, 1, 0, 0)


def _matrix(one: Any) -> _Matrix:
    held = c.FS_MATRIX()
    if not c.FPDFPageObj_GetMatrix(one, held):
        return _SAME
    return held.a, held.b, held.c, held.d, held.e, held.f


def _through(one: _Matrix, other: _Matrix) -> _Matrix:
    """First the one, then the other."""
    a, b, d, e, x, y = one
    p, q, r, s, u, v = other
    return a * p + b * r, a * q + b * s, d * p + e * r, d * q + e * s, x * p + y * r + u, x * q + y * s + v


def _box(one: Any, place: _Matrix) -> tuple[float, float, float, float] | None:
    sides = [ctypes.c_float() for _ in range(4)]
    if not c.FPDFPageObj_GetBounds(one, *sides):
        return None
    left, bottom, right, top = (side.value for side in sides)
    if place is not _SAME:
        a, b, d, e, x, y = place
        corners = [(a * h + d * w + x, b * h + e * w + y) for h in (left, right) for w in (bottom, top)]
        left, right = min(h for h, _ in corners), max(h for h, _ in corners)
        bottom, top = min(w for _, w in corners), max(w for _, w in corners)
    return (left, bottom, right, top) if all(map(math.isfinite, (left, bottom, right, top))) else None


def _font_size(one: Any, place: _Matrix) -> float:
    size = ctypes.c_float()
    c.FPDFTextObj_GetFontSize(one, size)
    _, b, _, d, *_ = _through(_matrix(one), place)
    return float(abs(size.value) * max(abs(d), abs(b)))


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

"""Documents made to hurt, damaged or locked: each is refused with its reason, or read without what hurts."""

import io
import zipfile
from collections.abc import Callable

import pytest

from desktop.workers.document_host.opening import opened
from desktop.workers.inside import CallError
from tests.harness.documents import (
    drawn,
    locked_office,
    locked_pdf,
    office,
    packed,
    paragraph,
    pdf,
    relations,
    run,
    word,
    workbook,
)
from tests.unit.workers.document_host.conftest import Read

pytestmark = pytest.mark.spec("R-DOC-1")


def _locked_pdf() -> bytes:
    lock = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'11' * 32}> /U <{'22' * 32}> >>"
    return pdf([drawn("x")], extra=[lock], trailer=f"/Encrypt 6 0 R /ID [<{'33' * 16}> <{'33' * 16}>]")


def _with_dtd(declared: str) -> bytes:
    return office("word/document.xml", f"<!DOCTYPE w [{declared}]><w:document xmlns:w='w'><w:body/></w:document>")


def _deep(count: int) -> bytes:
    return office("word/document.xml", "<w:document xmlns:w='w'>" + "<w:sdt>" * count + "</w:sdt>" * count)


def _many() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as package:
        for number in range(20_001):
            package.writestr(str(number), b"")
    return made.getvalue()


BOMB = "<w:document xmlns:w='w'><w:body>" + " " * 25_000_000 + "</w:body></w:document>"
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "a PDF with a password": (_locked_pdf, "document.password"),
    "an Office file with a password": (
        lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600 + "EncryptedPackage".encode("utf-16-le"),
        "document.password",
    ),
    "an Office file of before 2007": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "document.unknown"),
    "half of a Word document": (lambda: word(paragraph(run("x" * 9000)))[:700], "document.broken"),
    "a PDF without anything": (lambda: b"%PDF-1.7\n%%EOF", "document.broken"),
    "half of a PDF": (lambda: pdf([drawn("x" * 900)] * 9)[:900], "document.broken"),
    "an empty file": (lambda: b"", "document.empty"),
    "a program that is called .docx": (lambda: b"\x7fELF\x02\x01\x01\x00" + b"\x00" * 999, "document.unknown"),
    "an archive": (lambda: packed({"a.txt": "x"}), "document.unknown"),
    "a bomb": (lambda: office("word/document.xml", BOMB), "document.bomb"),
    "too many files": (_many, "document.too_large"),
    "entities": (lambda: _with_dtd('<!ENTITY a "b"><!ENTITY c "&a;&a;">'), "document.entities"),
    "an entity from elsewhere": (lambda: _with_dtd('<!ENTITY x SYSTEM "file:///etc/passwd">'), "document.entities"),
    "more depth than a document has": (lambda: _deep(100_000), "document.too_deep"),
    "a part that is no XML": (lambda: office("word/document.xml", "<w:document"), "document.broken"),
    "a workbook without sheets": (lambda: workbook({}), "document.broken"),
    "a notebook of brackets": (lambda: b"[" * 2_000_000, "document.broken"),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_is_refused_with_its_reason(read: Read, what: str) -> None:
    make, code = REFUSED[what]
    with pytest.raises(CallError) as caught:
        await read(make(), "it.ipynb")
    assert caught.value.code == code


async def test_a_pdf_whose_table_is_wrong_is_read_all_the_same(read: Read) -> None:
    whole = pdf([drawn("The rod is bent."), drawn("The inlet is clean.")])
    assert (await read(whole.replace(b"startxref\n", b"startxref\n9"))).all == "The rod is bent.\nThe inlet is clean."


async def test_ten_thousand_pages_are_counted_at_once_and_read_in_parts(read: Read) -> None:
    found = await read(pdf([drawn(f"page {n}") for n in range(10_000)]), room=500)
    assert (found.about.count, found.parts[0]) == (10_000, "page 0")
    assert 1 < found.said["part"] < 100


async def test_a_cell_at_the_end_of_a_sheet_makes_it_no_larger(read: Read) -> None:
    rows = '<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    assert (await read(workbook({"A": rows}))).all.split("\n")[2] == "| 1048576 | XFD1048576: 1 |"


async def test_macros_and_what_is_embedded_are_told_and_left_alone(read: Read) -> None:
    found = await read(word(paragraph(run("x")), {"word/vbaProject.bin": b"\x00", "word/embeddings/a.bin": b"\x00"}))
    assert found.about.notes == (
        "It holds macros; none was run.",
        "Other files are embedded in it; they were not opened.",
    )


async def test_names_that_lead_out_of_a_package_lead_nowhere(read: Read) -> None:
    inside = relations([("rId1", "officeDocument", "../../../../etc/passwd")])
    with pytest.raises(CallError):
        await read(packed({"[Content_Types].xml": "<Types/>", "_rels/.rels": inside}))


_SHELL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600 + "EncryptedPackage".encode("utf-16-le")


@pytest.mark.parametrize(
    "data",
    [
        _SHELL,
        locked_office(word(paragraph(run("hush"))), "sesame")[:2_000],
        locked_office(word(paragraph(run("hush"))), "sesame").replace(b'spinCount="100000"', b'spinCount="-100"'),
        locked_office(b"no document at all" * 500, "sesame"),
    ],
    ids=["a shell", "half of one", "a count below nothing", "something else in it"],
)
def test_an_encrypted_file_that_is_damaged_is_refused_and_never_opened_by_halves(data: bytes) -> None:
    with pytest.raises(CallError) as refused:
        opened(data, "it.docx", "sesame")
    assert refused.value.code in ("document.broken", "document.encrypted")


def test_a_password_opens_what_is_encrypted_and_another_does_not() -> None:
    for data in (locked_pdf("hush", "sesame"), locked_office(word(paragraph(run("hush"))), "sesame")):
        assert list(opened(data, "it", "sesame").lines(1)) == ["hush"]
        for password, code in (("", "document.password"), ("Sesame", "document.wrong_password")):
            with pytest.raises(CallError) as refused:
                opened(data, "it", password)
            assert refused.value.code == code
            assert "esame" not in str(refused.value)

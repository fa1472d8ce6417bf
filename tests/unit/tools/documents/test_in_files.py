"""read-file gives documents as Markdown, behind the same boundary as text."""

from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.tools.builtin.files import ReadFile
from desktop.tools.documents.reader import DocumentReader
from tests.harness.documents import drawn, pdf, workbook
from tests.unit.tools.conftest import Bench

pytestmark = pytest.mark.spec("R-DOC-1")


@pytest.fixture
def reads(bench: Bench, reader: DocumentReader) -> ReadFile:
    """read-file with what opens documents."""
    return ReadFile(bench.world.files(), lambda: bench.world.settings, documents=reader)


async def test_pages_are_given_below_their_names_and_no_place_is_promised_to_open(
    bench: Bench, reads: ReadFile
) -> None:
    (bench.world.workspace / "report.pdf").write_bytes(pdf([drawn(f"Sheet {n}.") for n in range(1, 6)]))
    result = await bench.run(reads, path="report.pdf", pages="2-3")
    assert result.text == (
        "## report.pdf p. 2\n\nSheet 2.\n\n## report.pdf p. 3\n\nSheet 3.\n\n[the document has 5 pages]"
    )
    assert result.facts == {"document": "report.pdf", "unit": "page", "count": 5, "first": 2, "last": 3}


async def test_a_sheet_is_asked_for_by_its_name_and_gone_on_with(bench: Bench, reads: ReadFile) -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 9_001))
    sheets = workbook({"Notes": "<sheetData/>", "March": f"<sheetData>{rows}</sheetData>"})
    (bench.world.workspace / "levels.xlsx").write_bytes(sheets)
    first = await bench.run(reads, path="levels.xlsx", pages="March")
    assert first.text.startswith("## levels.xlsx March\n\n|  | A |")
    offset = int(first.text.rpartition('go on with pages "March", offset ')[2].rstrip("]"))
    rest = await bench.run(reads, path="levels.xlsx", pages="March", offset=offset)
    assert f"(from row {offset})\n\n|  | A |\n| --- | --- |\n| {offset} | {offset} |\n" in rest.text
    assert f"| {offset - 1} | {offset - 1} |\n\n[" in first.text


@pytest.mark.parametrize("pages", ["6", "0", "4-2", "March", "1;2", "9" * 50])
async def test_pages_that_are_not_there_are_an_error_that_says_what_is(
    bench: Bench, reads: ReadFile, pages: str
) -> None:
    (bench.world.workspace / "report.pdf").write_bytes(pdf([drawn("x")] * 5))
    with pytest.raises(ToolFailure, match="It has 5 pages; write 3, 3-7 or 3- for a part"):
        await bench.run(reads, path="report.pdf", pages=pages)


async def test_a_damaged_document_says_so_and_what_to_do(bench: Bench, reads: ReadFile) -> None:
    (bench.world.workspace / "half.docx").write_bytes(b"PK\x03\x04" + b"\x00" * 99)
    with pytest.raises(ToolFailure, match=r"half\.docx was not read\. .* damaged or cut off\. Get it again"):
        await bench.run(reads, path="half.docx")


async def test_text_is_read_as_before(bench: Bench, reads: ReadFile) -> None:
    (bench.world.workspace / "page.html").write_text("<p>kept</p>\n")
    assert (await bench.run(reads, path="page.html")).text == "<p>kept</p>\n"


async def test_a_document_outside_the_boundary_is_not_opened(bench: Bench, reads: ReadFile, tmp_path: Path) -> None:
    (bench.world.outside / "secret.pdf").write_bytes(pdf([drawn("x")]))
    (bench.world.workspace / "link.pdf").symlink_to(bench.world.outside / "secret.pdf")
    with pytest.raises(BoundaryViolation):
        await bench.run(reads, path="link.pdf")

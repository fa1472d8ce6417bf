"""Documents that servers give, as resources or in a result, are read as attached ones are."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.tools.documents.reader import DocumentReader
from desktop.tools.mcp.offered import OFFERS
from desktop.workers.document_child import document_host
from tests.harness.documents import drawn, locked_pdf, pdf, workbook
from tests.servers.mcp import papers
from tests.unit.tools.mcp.kit import Lent, McpBench

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.spec("R-DOC-1")]

REPORT = pdf([drawn("Contents"), drawn("The rod is bent.")])
SHEET = workbook({"March": '<sheetData><row r="7"><c r="B7"><v>0.58</v></c></row></sheetData>'})


@pytest_asyncio.fixture(loop_scope="session")
async def bench(tmp_path: Path, lent: Lent) -> AsyncIterator[McpBench]:
    confined = code_sandbox_profile(in_a_loop=True)
    reader = DocumentReader(lambda handle: document_host(handle, confined=confined))
    made = McpBench(tmp_path, host=lent, documents=reader)
    yield made
    await made.end()


async def test_a_document_that_is_a_resource_is_read_page_by_page(bench: McpBench) -> None:
    await bench.ready("shelf", papers(REPORT))
    offering = bench.server("shelf").offering
    assert offering is not None
    await bench.servers.accept("shelf", {OFFERS: offering.offered.digest})
    reading = bench.servers.reading
    whole = await reading.read_resource("shelf", "papers://shelf/report.pdf")
    assert "## report.pdf p. 1\n\nContents" in whole.text
    assert "## report.pdf p. 2\n\nThe rod is bent." in whole.text
    second = await reading.read_resource("shelf", "papers://shelf/report.pdf", "2")
    assert "The rod is bent." in second.text
    assert "Contents" not in second.text
    missing = await reading.read_resource("shelf", "papers://shelf/report.pdf", "9")
    assert "has no page '9'" in missing.text
    half = await reading.read_resource("shelf", "papers://shelf/half.pdf")
    assert "half.pdf was not read. It begins like a PDF, but is damaged or cut off." in half.text


async def test_documents_in_a_result_are_read_and_one_that_is_locked_costs_the_others_nothing(bench: McpBench) -> None:
    await bench.ready(
        "shelf", papers(REPORT, locked_pdf("hush", "sesame"), SHEET, b"PK\x03\x04 nothing"), category="read"
    )
    result = (await bench.call("shelf_fetch")).result
    assert "[resource papers://0] [document 1: application/x-odd" in result.text
    assert "The rod is bent." in result.text
    assert "It is encrypted and opens with a password only." in result.text
    assert "| 7 |  | 0.58 |" in result.text
    assert "It is packed, and damaged or cut off." in result.text
    assert result.media == ()

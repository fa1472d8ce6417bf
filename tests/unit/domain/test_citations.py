"""A document has a name that an answer can cite: it is found again there, whatever its file is called."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from desktop.domain.files.documents import CITATION, cite_name, own_name, read_citation

pytestmark = pytest.mark.spec("R-DOC-1")


@pytest.mark.parametrize(
    ("name", "kind", "cited"),
    [
        ("a b\tc.pdf", "PDF", "a_b_c.pdf"),
        ("\u202etxt.pdf", "PDF", "txt.pdf"),
        ("Report (1).pdf", "PDF", "Report_1.pdf"),
        ("REPORT.PDF", "PDF", "REPORT.PDF"),
        ("O'Brien's “plan”.docx", "Word document", "O_Brien_s_plan.docx"),
        ("data [final] | a*b.csv", "CSV table", "data_final_a_b.csv"),
        ("scan", "PDF", "scan.pdf"),
        ("notes.final", "Word document", "notes.final.docx"),
        (" ", "", "document"),
        ("x" * 500 + ".pdf", "PDF", "x" * 116 + ".pdf"),
    ],
)
def test_a_name_is_cited_without_what_would_end_it(name: str, kind: str, cited: str) -> None:
    assert cite_name(name, kind) == cited


@given(st.text(max_size=200), st.sampled_from(["", ".pdf", ".PDF", ".xlsx", ".html"]))
@example("it's.pdf x", ".pdf")
@example("report.pdf p. 3", ".pdf")
@example("(", ")")
@example("_", ".pdf")
@example("a..pdf.", ".pdf")
def test_each_name_is_read_from_an_answer_as_it_was_given(name: str, ending: str) -> None:
    cited = cite_name(name + ending, "PDF")
    assert cite_name(cited, "PDF") == cited
    assert read_citation(f"{cited} p. 4") == (cited, 4, "", 0)
    said = f"As it says ({cited} p. 4), and in **{cited} B7**."
    assert [match["name"] for match in CITATION.finditer(said)] == [cited, cited]


def test_each_document_has_a_name_of_its_own_and_keeps_it() -> None:
    taken = {"report.pdf": "a"}
    names = [own_name("Report.pdf", digest, taken) for digest in "aabcb"]
    assert names == ["Report.pdf", "Report.pdf", "Report-2.pdf", "Report-3.pdf", "Report-2.pdf"]
    long = own_name("x" * 116 + ".pdf", "d", {"x" * 116 + ".pdf": "e"})
    assert long == "x" * 114 + "-2.pdf"
    assert read_citation(f"{long} p. 1") == (long, 1, "", 0)

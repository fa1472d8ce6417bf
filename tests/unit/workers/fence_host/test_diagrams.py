"""Mermaid diagrams as drawings: what public documents have, what models get wrong, and what is made to hurt."""

import time

import pytest

from desktop.domain.fences.drawing import Drawing, Label, Shape
from desktop.workers.fence_host.diagrams import drawn
from desktop.workers.fence_host.undrawn import NotDrawn

pytestmark = pytest.mark.spec("R-DOC-2")

NIGHT = """flowchart LR
A[02:10 starts] --> B[read the day] --> C{gaps?}
C -->|yes| D[flag them]
C -- no --> E[merge rows]
D --> E --> F([report])"""
KINDS = {
    "flowchart": NIGHT,
    "graph with groups and looks": (
        "graph TD\nsubgraph one [One]\na-->b\nend\nclassDef big fill:#f9f\nclass a big\nstyle b fill:#bbf"
    ),
    "sequence": (
        "sequenceDiagram\nparticipant A as Alice\nA->>+B: Hi\nalt good\nB-->>-A"
        ": yo\nelse bad\nB-xA: no\nend\nNote over A: x"
    ),
    "class": "classDiagram\nclass A {\n<<interface>>\n+int x\n+go() bool\n}\nA <|-- B\nA *-- C : has",
    "state": "stateDiagram-v2\n[*] --> Idle\nIdle --> Busy: start\nBusy --> [*]",
    "entities": "erDiagram\nA ||--o{ B : has\nA {\nint id PK\n}",
    "gantt": "gantt\ntitle T\ndateFormat YYYY-MM-DD\nsection S\nTask one :a, 2024-01-01, 3d\nTask two :after a, 2d",
    "pie": 'pie title Pets\n"Dogs" : 386\n"Cats" : 85',
    "git": "gitGraph\ncommit\nbranch dev\ncommit\ncheckout main\nmerge dev",
    "journey": "journey\ntitle Day\nsection Go\nMake tea: 5: Me",
    "mind map": "mindmap\n  root\n    one\n    two",
    "timeline": "timeline\ntitle T\n2002 : A\n2004 : B",
}


def words(drawing: Drawing) -> str:
    return " ".join(mark.text for mark in drawing.marks if isinstance(mark, Label))


@pytest.mark.parametrize("source", KINDS.values(), ids=KINDS)
def test_diagrams_of_each_kind_are_drawn(source: str) -> None:
    drawing = drawn(source)
    assert drawing.kind == "mermaid"
    assert any(isinstance(mark, Shape) for mark in drawing.marks)
    assert words(drawing)


def test_a_flowchart_has_its_boxes_arrows_and_words() -> None:
    drawing = drawn(NIGHT)
    for label in ("02:10 starts", "read the day", "gaps?", "flag them", "merge rows", "report", "yes", "no"):
        assert label in words(drawing)
        assert label in drawing.spoken
    assert drawing.spoken.startswith("flowchart: ")
    assert sum(isinstance(mark, Shape) and mark.fill == "text-2" for mark in drawing.marks) >= 6, "heads of arrows"


def test_how_a_source_wants_to_look_is_the_themes_affair() -> None:
    plain = drawn(NIGHT)
    dressed = drawn(f"---\ntitle: Night\nconfig:\n  theme: dark\n---\n%%{{init: {{'theme': 'forest'}}}}%%\n{NIGHT}")
    assert dressed.marks == plain.marks
    assert dressed.spoken.startswith("flowchart Night: ")


def test_tags_in_labels_are_no_tags_and_breaks_are_breaks() -> None:
    drawing = drawn('flowchart LR\nA["one<br/>two <b>three</b>"] --> B["a &lt;script&gt; b"]')
    assert {"one", "two three"} <= {mark.text for mark in drawing.marks if isinstance(mark, Label)}
    assert "<b>" not in words(drawing)


HOSTILE = {
    "a script in a label": 'flowchart LR\nA["<script>alert(1)</script>hi"] --> B',
    "a picture in a label": 'flowchart LR\nA["<img src=x onerror=alert(1)>hi"] --> B',
    "clicks": (
        'flowchart LR\\nA --> B\\nclick A "javascript:alert(1)"\\n'
        'click B href "https://example.org" _blank\\nclick A call f()'
    ),
    "an address as a style": "flowchart LR\nA-->B\nstyle A fill:url(https://example.org/x)",
    "an icon": "flowchart LR\nA@{ img: 'https://example.org/x.png', label: 'x' } --> B",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_nothing_in_a_drawing_loads_runs_or_leads_anywhere(source: str) -> None:
    try:
        drawing = drawn(source)
    except NotDrawn:
        return
    assert {type(mark) for mark in drawing.marks} <= {Shape, Label}
    assert "javascript" not in repr(drawing)
    assert "example.org" not in repr(drawing)


REFUSED = {
    "no diagram": ("hello", "no Mermaid diagram type"),
    "nothing": ("", "no Mermaid diagram type"),
    "a bracket that is not closed": ("flowchart LR\nA[x --> B", "unterminated node label"),
    "a line of a megabyte": ("flowchart LR\nA[" + "x" * 1_000_000 + "]", "longer than"),
    "100,000 nodes": ("flowchart LR\n" + "\n".join(f"n{i}-->n{i + 1}" for i in range(100_000)), "longer than"),
    "1,000 nodes in a row": ("flowchart LR\n" + "\n".join(f"n{i}-->n{i + 1}" for i in range(1_000)), "too many parts"),
    "all with all": (
        "flowchart LR\n" + "\n".join(f"a{i}-->a{j}" for i in range(40) for j in range(40)),
        "too many parts",
    ),
    "groups in groups": (
        "flowchart LR\n" + "".join(f"subgraph s{i}\n" for i in range(900)) + "a-->b\n" + "end\n" * 900,
        "too many parts",
    ),
    "a product of lists": (
        f"flowchart LR\n{'&'.join(f'a{i}' for i in range(200))}-->{'&'.join(f'b{i}' for i in range(200))}",
        "too many parts",
    ),
}


@pytest.mark.parametrize(("source", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_drawn_has_a_reason(source: str, reason: str) -> None:
    with pytest.raises(NotDrawn, match=reason) as refused:
        drawn(source)
    assert len(str(refused.value)) < 300


def test_a_circle_is_drawn() -> None:
    assert drawn("flowchart LR\n" + "\n".join(f"n{i % 20}-->n{(i * 7 + 1) % 20}" for i in range(60))).marks


def test_a_long_conversation_is_drawn_in_time() -> None:
    began = time.process_time()
    drawing = drawn("sequenceDiagram\n" + "\n".join(f"A->>B: message {i}" for i in range(300)))
    assert "message 299" in words(drawing)
    assert time.process_time() - began < 30, "quadratic at most"

"""SVG read as shapes and words: outlines, looks, places, and what of it is passed over."""

import math

import pytest

from desktop.domain.fences.drawing import PAINTS, Drawing, Label, Shape
from desktop.workers.fence_host.svg import geometry, reading, styles

pytestmark = pytest.mark.spec("R-DOC-2")


def svg(inside: str, head: str = 'viewBox="0 0 100 100"') -> Drawing:
    return reading.read(
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {head}>{inside}</svg>'
    )


def labels(drawing: Drawing) -> list[str]:
    return [mark.text for mark in drawing.marks if isinstance(mark, Label)]


def shapes(drawing: Drawing) -> list[Shape]:
    return [mark for mark in drawing.marks if isinstance(mark, Shape)]


def ends(outline: geometry.Outline) -> list[tuple[float, float]]:
    return [(round(values[-2], 3), round(values[-1], 3)) for _, values in outline if values]


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        ("M1 2L3 4Z", [(1, 2), (3, 4)]),
        ("m1,2 3,4 5,6", [(1, 2), (4, 6), (9, 12)]),
        ("M0 0h5v5H0V0z", [(0, 0), (5, 0), (5, 5), (0, 5), (0, 0)]),
        ("M0 0c1 1 2 2 3 3s2 2 3 3", [(0, 0), (3, 3), (6, 6)]),
        ("M0 0q5 5 10 0t10 0", [(0, 0), (10, 0), (20, 0)]),
        ("M.5.5-1-1", [(0.5, 0.5), (-1, -1)]),
        ("M1e1 0L-1e-1 0", [(10, 0), (-0.1, 0)]),
        ("L1 1", []),
        ("M1", []),
        ("nonsense", []),
    ],
)
def test_a_path_goes_where_it_says(d: str, expected: list[tuple[float, float]]) -> None:
    assert ends(geometry.path(d)) == expected


@pytest.mark.parametrize("d", ["M0 10A10 10 0 0 1 10 0", "M0 10A10 10 0 0110 0", "M0 10a10,10,0,0,1,10-10"])
def test_an_arc_stays_on_its_circle(d: str) -> None:
    outline = geometry.path(d)
    assert ends(outline)[-1] == (10, 0)
    for _, values in outline[1:]:
        for index in range(4, len(values), 6):
            assert math.dist((10, 10), (values[index], values[index + 1])) == pytest.approx(10)


def test_transforms_are_applied_from_the_outside_in() -> None:
    placed = geometry.placed("translate(10, 20) rotate(90) scale(2)")
    assert geometry.point(placed, 1, 0) == pytest.approx((10, 22))
    assert geometry.scale_of(placed) == pytest.approx(2)
    assert geometry.point(geometry.placed("rotate(180 5 5)"), 0, 0) == pytest.approx((10, 10))


def test_the_more_special_rule_counts_then_the_later_then_the_element_itself() -> None:
    drawing = svg(
        "<style>#a .x rect{fill:#ffffff} .x rect{fill:red} rect{stroke:blue} .x .y{stroke:green}</style>"
        '<g id="a"><g class="x"><rect class="y" width="50" height="50"/>'
        '<rect width="50" height="50" style="fill:#0000ff"/></g></g>'
    )
    first, second = shapes(drawing)
    assert (first.fill, first.stroke) == ("surface", "accent-text")
    assert (second.fill, second.stroke) == ("side-a-soft", "side-a")


def test_a_rule_does_not_reach_what_stands_elsewhere() -> None:
    assert shapes(svg("<style>.x rect{fill:none}</style><g class='z'><rect width='50' height='50'/></g>"))


@pytest.mark.parametrize(
    ("colour", "ground", "ink"),
    [
        ("#ffffff", "surface", "border"),
        ("#eee", "sunken", "border"),
        ("#333", "sunken", "text-2"),
        ("#f9f", "admin-soft", "admin"),
        ("rgb(68, 119, 170)", "side-a-soft", "side-a"),
        ("hsl(120, 60%, 40%)", "accent-soft", "accent-text"),
        ("orange", "side-b-soft", "side-b"),
        ("none", "", ""),
        ("rgba(0,0,0,0)", "", ""),
        ("url(#x)", "", ""),
        ("var(--x)", "", ""),
    ],
)
def test_a_colour_of_a_picture_becomes_one_of_the_theme(colour: str, ground: str, ink: str) -> None:
    assert styles.ground(colour, small=False) == ground
    assert styles.ink(colour, "text-2") == ink
    assert {styles.ground(colour, small=True), ground, ink} <= PAINTS


def test_words_stand_where_their_lines_say() -> None:
    drawing = svg(
        '<g transform="translate(10 10)"><text x="5" y="0" style="font-size:10px;text-anchor:middle">'
        '<tspan x="5" dy="1em">one</tspan><tspan x="5" y="2em" font-weight="bold">two <tspan>and half</tspan></tspan>'
        "</text></g>"
    )
    one, two = (mark for mark in drawing.marks if isinstance(mark, Label))
    assert (one.text, one.x, one.y, one.anchor, one.bold) == ("one", 15, 20, "middle", False)
    assert (two.text, two.y, two.bold) == ("two and half", 30, True)


def test_an_arrow_head_points_where_its_line_goes() -> None:
    head = '<marker id="m" refX="10" refY="5" markerWidth="10" orient="auto" viewBox="0 0 10 10">'
    drawing = svg(
        f'{head}<path d="M0 0L10 5L0 10z"/></marker>'
        '<path d="M50 10L50 90" stroke="#000" fill="none" marker-end="url(#m)"/>'
    )
    tip = shapes(drawing)[-1]
    points = list(zip(tip.numbers[0::2], tip.numbers[1::2], strict=True))
    assert max(points, key=lambda point: point[1]) == pytest.approx((50, 90))
    assert tip.fill == "text-2"


PASSED_OVER = {
    "a script": "<script>alert(1)</script>",
    "a picture from elsewhere": '<image href="https://example.org/x.png" width="50" height="50"/>',
    "a page inside": '<foreignObject width="50" height="50"><p xmlns="x">words</p></foreignObject>',
    "what is not shown": '<g display="none"><text>words</text></g>',
    "what cannot be seen": '<g opacity="0"><text>words</text></g>',
    "what is only defined": "<defs><text>words</text></defs>",
    "a shape without an area": '<rect width="0" height="0" fill="none"/>',
    "a place outside": '<rect x="1e9" width="50" height="50"/>',
}


@pytest.mark.parametrize("inside", PASSED_OVER.values(), ids=PASSED_OVER)
def test_what_is_no_part_of_the_drawing_is_passed_over(inside: str) -> None:
    assert svg(inside).marks == ()


def test_a_link_is_drawn_and_leads_nowhere() -> None:
    drawing = svg('<a xlink:href="javascript:alert(1)"><text>words</text></a>')
    assert labels(drawing) == ["words"]
    assert "javascript" not in repr(drawing)


def test_a_picture_that_uses_itself_comes_to_an_end() -> None:
    assert len(svg('<g id="a"><text>x</text><use href="#a"/></g>').marks) < 20


def test_more_than_a_drawing_may_be_is_refused() -> None:
    with pytest.raises(reading.PictureTooLarge):
        svg('<rect width="5" height="5"/>' * 5_001)
    with pytest.raises(reading.PictureTooLarge):
        svg("<g/>", 'viewBox="0 0 1e9 5"')
    assert svg("<g>" * 500 + "<text>x</text>" + "</g>" * 500).marks == ()


@pytest.mark.parametrize("text", ["", "words", "<svg", "<!DOCTYPE x [<!ENTITY a 'b'>]><svg>&a;</svg><"])
def test_what_is_no_svg_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no SVG"):
        reading.read(text)

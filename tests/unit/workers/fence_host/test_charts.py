"""Charts as drawings: the right places and sizes, the right names, and a reason where one would be drawn wrongly."""

import itertools
import json
import math
import time
from typing import Any

import pytest

from desktop.domain.fences.drawing import Drawing, Label, Shape
from desktop.workers.fence_host.charts import scales, values
from desktop.workers.fence_host.charts.drawn import drawn
from desktop.workers.fence_host.undrawn import NotDrawn

pytestmark = pytest.mark.spec("R-DOC-2")

ROWS = [{"a": "A", "b": 10}, {"a": "B", "b": 20}, {"a": "C", "b": 40}]
X, Y = {"field": "a", "type": "nominal"}, {"field": "b", "type": "quantitative"}
SERIES = [
    {"a": name, "b": amount, "c": series}
    for name, amount, series in (("A", 1, "x"), ("A", 3, "y"), ("B", 2, "x"), ("B", 2, "y"))
]


def chart(mark: Any = "bar", rows: Any = ROWS, encoding: Any = None, **more: Any) -> Drawing:
    spec = {"data": {"values": rows}, "mark": mark, "encoding": encoding or {"x": X, "y": Y}, **more}
    return drawn(json.dumps(spec))


def labels(drawing: Drawing) -> list[str]:
    return [mark.text for mark in drawing.marks if isinstance(mark, Label)]


def filled(drawing: Drawing, *colors: str) -> list[tuple[float, float, float, float]]:
    """(left, top, right, bottom) of the areas in a colour of a series."""
    wanted = colors or ("side-a",)
    found = []
    for mark in drawing.marks:
        if isinstance(mark, Shape) and mark.fill in wanted:
            xs, ys = mark.numbers[0::2], mark.numbers[1::2]
            found.append((min(xs), min(ys), max(xs), max(ys)))
    return found


def heights(drawing: Drawing, *colors: str) -> list[float]:
    return [bottom - top for _, top, _, bottom in filled(drawing, *colors)]


def test_bars_are_as_high_as_their_amounts_and_stand_on_one_line() -> None:
    drawing = chart(title="Sales")
    one, two, three = heights(drawing)
    assert two == pytest.approx(2 * one)
    assert three == pytest.approx(4 * one)
    assert len({round(bottom, 3) for *_, bottom in filled(drawing)}) == 1
    assert {"A", "B", "C", "a", "b", "Sales", "0", "40"} <= set(labels(drawing))
    assert drawing.spoken == "bar chart Sales, a and b: A: 10; B: 20; C: 40"


def test_bars_lie_where_amounts_go_along_x() -> None:
    drawing = chart(encoding={"y": X, "x": Y})
    wide = [right - left for left, _, right, _ in filled(drawing)]
    assert wide[2] == pytest.approx(4 * wide[0])


def test_amounts_below_zero_hang_from_the_line() -> None:
    drawing = chart(rows=[{"a": "A", "b": -5}, {"a": "B", "b": 5}])
    (_, top, _, _), (_, _, _, bottom) = filled(drawing)
    assert top == pytest.approx(bottom)


def test_series_are_stacked_or_beside_each_other_and_named() -> None:
    encoding = {"x": X, "y": Y, "color": {"field": "c"}}
    stacked = chart(rows=SERIES, encoding=encoding)
    x, y = filled(stacked, "side-a")[0], filled(stacked, "side-b")[0]
    assert y[3] == pytest.approx(x[1]), "one on the other"
    assert heights(stacked, "side-b")[0] == pytest.approx(3 * heights(stacked, "side-a")[0])
    assert {"x", "y", "c"} <= set(labels(stacked))
    beside = chart(rows=SERIES, encoding={**encoding, "xOffset": {"field": "c"}})
    x, y = filled(beside, "side-a")[0], filled(beside, "side-b")[0]
    assert x[3] == pytest.approx(y[3])
    assert x[2] <= y[0]
    shares = chart(rows=SERIES, encoding={**encoding, "y": {**Y, "stack": "normalize"}})
    assert heights(shares, "side-a")[0] / (
        heights(shares, "side-a")[0] + heights(shares, "side-b")[0]
    ) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("how", "expected"), [("sum", 6), ("mean", 3), ("median", 3), ("min", 2), ("max", 4), ("count", 2), ("distinct", 2)]
)
def test_what_many_rows_come_to(how: str, expected: float) -> None:
    rows = [{"a": "A", "b": 2}, {"a": "A", "b": 4}]
    drawing = chart(rows=rows, encoding={"x": X, "y": {"field": "b", "aggregate": how}})
    assert drawing.spoken.endswith(f"A: {expected}")


def test_numbers_are_put_into_ranges_and_counted() -> None:
    rows = [{"v": value} for value in (1, 2, 3, 11, 12, 29)]
    drawing = chart(rows=rows, encoding={"x": {"field": "v", "bin": {"maxbins": 3}}, "y": {"aggregate": "count"}})
    assert "0 – 10: 3; 10 – 20: 2; 20 – 30: 1" in drawing.spoken


def test_a_line_goes_through_its_values_in_order_of_time() -> None:
    rows = [{"t": "2024-03-01", "b": 3}, {"t": "2024-01-01", "b": 1}, {"t": "2024-02-01", "b": 2}]
    drawing = chart("line", rows, {"x": {"field": "t", "type": "temporal"}, "y": Y})
    line = next(mark for mark in drawing.marks if isinstance(mark, Shape) and mark.stroke == "side-a")
    assert list(line.numbers[0::2]) == sorted(line.numbers[0::2])
    assert list(line.numbers[1::2]) == sorted(line.numbers[1::2], reverse=True)
    assert any("Feb" in text for text in labels(drawing))


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("2024-03-17T21:00", "2024-03-18T01:00", ["21:00", "22:00", "23:00", "00:00", "01:00"]),
        ("2024-03-01", "2024-03-06", ["1 Mar", "2 Mar", "3 Mar", "4 Mar", "5 Mar", "6 Mar"]),
        ("2023-01-01", "2023-07-01", ["2023", "Feb", "Mar", "Apr", "May", "Jun", "Jul"]),
        ("2019-01-01", "2023-01-01", ["2019", "2020", "2021", "2022", "2023"]),
    ],
)
def test_times_along_an_axis_are_named_as_one_says_them(first: str, last: str, told: list[str]) -> None:
    rows = [{"t": first, "b": 1}, {"t": last, "b": 2}]
    found = labels(chart("line", rows, {"x": {"field": "t", "type": "temporal", "title": ""}, "y": Y}))
    assert [text for text in found if text in told] == told


def test_a_line_is_broken_where_there_is_no_amount() -> None:
    rows = [{"x": index, "b": value} for index, value in enumerate((1, 2, None, math.nan, 5, math.inf, 7, 8))]
    drawing = chart("line", rows, {"x": {"field": "x", "type": "quantitative"}, "y": Y})
    lines = [mark.steps for mark in drawing.marks if isinstance(mark, Shape) and mark.stroke == "side-a"]
    assert lines == ["ML", "M", "ML"]
    assert len(filled(drawing)) == 1, "a value alone is a point"


def test_lines_are_told_apart_without_their_colours() -> None:
    drawing = chart("line", SERIES, {"x": X, "y": Y, "color": {"field": "c"}})
    lines = {mark.stroke: mark.dashes for mark in drawing.marks if isinstance(mark, Shape) and mark.width == 2}
    assert lines["side-a"] != lines["side-b"]


def test_a_pie_has_the_share_of_each_part() -> None:
    drawing = chart("arc", ROWS, {"theta": Y, "color": X})
    assert "A: 10 (14%)" in labels(drawing)
    assert "C: 40 (57%)" in labels(drawing)
    assert "pie chart: A: 10 (14%); B: 20 (29%); C: 40 (57%)" in drawing.spoken


def test_layers_share_their_axes() -> None:
    layers = [{"mark": "bar"}, {"mark": {"type": "text"}, "encoding": {"text": {"field": "b"}}}]
    spec = {"data": {"values": ROWS}, "encoding": {"x": X, "y": Y}, "layer": layers}
    drawing = drawn(json.dumps(spec))
    assert len(filled(drawing)) == 3
    assert labels(drawing).count("10") == 2, "on the axis and on the bar"
    rule = {"data": {"values": [{"limit": 30}]}, "mark": "rule", "encoding": {"y": {"field": "limit"}}}
    with_rule = drawn(
        json.dumps({"layer": [{"data": {"values": ROWS}, "mark": "bar", "encoding": {"x": X, "y": Y}}, rule]})
    )
    assert any(isinstance(mark, Shape) and mark.width == 1.5 for mark in with_rule.marks)


def test_categories_keep_the_order_that_is_said() -> None:
    def order(sort: Any) -> list[str]:
        drawing = chart(encoding={"x": {**X, "sort": sort}, "y": Y})
        return [text for text in labels(drawing) if text in "ABC"]

    assert order(["C", "A"]) == ["C", "A", "B"]
    assert order("-y") == ["C", "B", "A"]
    assert order("descending") == ["C", "B", "A"]
    assert order(None) == ["A", "B", "C"]


def test_a_logarithmic_axis_has_even_steps() -> None:
    rows = [{"x": index, "y": 10**index} for index in range(5)]
    encoding = {"x": {"field": "x"}, "y": {"field": "y", "type": "quantitative", "scale": {"type": "log"}}}
    tops = [top for _, top, _, _ in filled(chart("point", rows, encoding))]
    steps = [one - other for one, other in itertools.pairwise(tops)]
    assert steps == pytest.approx([steps[0]] * 4)


def test_a_chart_of_chart_js_is_drawn_as_well() -> None:
    data = {
        "labels": ["Mon", "Tue"],
        "datasets": [{"label": "in", "data": [1, 2]}, {"label": "out", "data": [3, None]}],
    }
    drawing = drawn(json.dumps({"type": "bar", "data": data}))
    assert {"Mon", "Tue", "in", "out"} <= set(labels(drawing))
    assert len(filled(drawing)) - 1 == 2, "two bars, and the sign of their series"
    pie = drawn(json.dumps({"type": "doughnut", "data": {"labels": ["a", "b"], "datasets": [{"data": [1, 3]}]}}))
    assert "b: 3 (75%)" in labels(pie)
    with pytest.raises(NotDrawn, match="radar"):
        drawn(json.dumps({"type": "radar", "data": data}))


REFUSED: dict[str, tuple[Any, str]] = {
    "data elsewhere": ({"data": {"url": "https://example.org/a.csv"}}, "at an address, and nothing is fetched"),
    "no data": ({"data": {}}, "no list of rows"),
    "a computation": ({"transform": [{"filter": "datum.b > 1"}]}, r"computes its data \(filter\)"),
    "several charts": ({"hconcat": []}, "several charts"),
    "a split": ({"encoding": {"x": X, "y": Y, "row": {"field": "a"}}}, "split into several charts"),
    "a map": ({"projection": {"type": "mercator"}}, "a map"),
    "an unknown mark": ({"mark": "boxplot"}, "marks of the kind boxplot"),
    "an unknown channel": ({"encoding": {"x": X, "angle": Y}}, "by angle"),
    "an unknown aggregate": ({"encoding": {"x": X, "y": {**Y, "aggregate": "stdev"}}}, "stdev"),
    "an unknown scale": ({"encoding": {"x": X, "y": {**Y, "scale": {"type": "sqrt"}}}}, "sqrt"),
    "a colour by amount": ({"encoding": {"x": X, "y": Y, "color": Y}}, "colours by an amount"),
    "a field that is not there": ({"encoding": {"x": X, "y": {"field": "z"}}}, "No row has the field z"),
    "words as numbers": (
        {"encoding": {"x": X, "y": {"field": "a", "type": "quantitative"}}},
        "cannot be read as numbers",
    ),
    "words as times": ({"encoding": {"x": {"field": "a", "type": "temporal"}, "y": Y}}, "cannot be read as times"),
    "a pie with less than nothing": (
        {"mark": "arc", "encoding": {"theta": {"field": "b"}, "color": X}, "data": {"values": [{"a": "A", "b": -1}]}},
        "less than nothing",
    ),
    "no rows": ({"data": {"values": []}}, "nothing in it to draw"),
    "Vega": ({"$schema": "https://vega.github.io/schema/vega/v5.json"}, "written in Vega"),
    "too many rows": ({"data": {"values": [1] * 20_001}}, "more than 20,000 rows"),
    "too many categories": ({"data": {"values": [{"a": str(n), "b": 1} for n in range(500)]}}, "500 categories"),
}


@pytest.mark.parametrize(("change", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_would_be_drawn_wrongly_is_refused_by_name(change: dict[str, Any], reason: str) -> None:
    spec = {"data": {"values": ROWS}, "mark": "bar", "encoding": {"x": X, "y": Y}, **change}
    with pytest.raises(NotDrawn, match=reason):
        drawn(json.dumps(spec))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "hello",
        "7",
        "[]",
        "{",
        '{"mark": "bar"}',
        "[" * 50_000,
        '{"a":' * 50_000,
        '{"mark": 7, "data": {"values": 7}}',
    ],
)
def test_what_is_no_chart_is_refused(source: str) -> None:
    with pytest.raises(NotDrawn):
        drawn(source)


ODD = (None, True, "", "x", "1e999", -1e308, 1e308, 1e-320, [], {}, "2024-13-45", 10**400, "\u202e", -0.0)


@pytest.mark.parametrize("mark", ["bar", "line", "area", "point", "tick", "arc", "rule", "text"])
@pytest.mark.parametrize("kind", ["quantitative", "temporal", "nominal", "ordinal"])
def test_odd_values_are_drawn_or_refused_and_break_nothing(mark: str, kind: str) -> None:
    rows = [{"a": value, "b": other} for value in ODD for other in (1, value)]
    field = {"field": "a", "type": kind}
    for encoding in (
        {"x": field, "y": Y},
        {"y": field, "x": Y},
        {"theta": field, "color": X},
        {"x": field, "color": field},
    ):
        try:
            drawing = chart(mark, rows, encoding)
        except NotDrawn:
            continue
        for shape in drawing.marks:
            if isinstance(shape, Shape):
                assert all(math.isfinite(number) for number in shape.numbers)


def test_many_points_are_one_line_and_quick() -> None:
    rows = [{"x": index, "y": math.sin(index / 50)} for index in range(3_000)]
    began = time.process_time()
    drawing = chart("line", rows, {"x": {"field": "x"}, "y": {"field": "y"}})
    assert max(len(mark.steps) for mark in drawing.marks if isinstance(mark, Shape)) == 3_000
    assert time.process_time() - began < 30
    with pytest.raises(NotDrawn, match="more than 5,000 marks"):
        chart("point", [{"x": index, "y": 1} for index in range(6_000)], {"x": {"field": "x"}, "y": {"field": "y"}})


@pytest.mark.parametrize(
    ("told", "moment"),
    [
        ("1970-01-02", 86_400),
        ("1970-01-01T00:00:05Z", 5),
        ("1970-01-01T01:00:00+01:00", 0),
        (5_000, 5),
        (1970, 0),
        ("1970", 0),
        ("Jan 2 1970", 86_400),
        ("yesterday", None),
        (None, None),
        (True, None),
        (math.nan, None),
        (1e300, None),
    ],
)
def test_times_are_read_as_they_are_written(told: Any, moment: float | None) -> None:
    assert values.moment(told) == moment


@pytest.mark.parametrize(
    ("value", "step", "shown"),
    [
        (0, 1, "0"),
        (1.5, 0.5, "1.5"),
        (2, 0.5, "2.0"),
        (12_000, 2_000, "12k"),
        (1_234, 1, "1,234"),
        (3e6, 1e6, "3M"),
        (0.002, 0.001, "0.002"),
        (1e-9, 1e-9, "1e-09"),
    ],
)
def test_numbers_on_an_axis_are_as_exact_as_its_steps(value: float, step: float, shown: str) -> None:
    assert scales.told(value, step) == shown


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 7), (0.001, 0.0012), (1e9, 5e9), (5, 5), (0, 0), (-1e-9, 1e-9)])
def test_an_axis_has_round_places_that_hold_all_values(low: float, high: float) -> None:
    scale = scales.numbers([low, high], False, None, False)
    scale.begin, scale.end = 0.0, 300.0
    assert scale.low <= low <= high <= scale.high
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 12
    assert len({name for _, name in ticks}) == len(ticks)

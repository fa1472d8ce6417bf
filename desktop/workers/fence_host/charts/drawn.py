"""The source of a chart as a drawing: a specification of Vega-Lite, or of Chart.js, which models write as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.fences.drawing import Drawing
from desktop.domain.text.json_text import read_json
from desktop.workers.fence_host.charts.plotting import drawing_of
from desktop.workers.fence_host.charts.spec import plot_of
from desktop.workers.fence_host.undrawn import NotDrawn

_CHART_JS = {"bar": "bar", "horizontalBar": "bar", "line": "line", "pie": "arc", "doughnut": "arc", "scatter": "point"}


def drawn(source: str) -> Drawing:
    """Raises NotDrawn."""
    try:
        spec = read_json(source)
    except RecursionError:
        raise NotDrawn("It is nested too deep.") from None
    except ValueError as error:
        raise NotDrawn(f"It is no JSON: {str(error)[:120]}.") from None
    if not isinstance(spec, dict):
        raise NotDrawn("It is no specification of a chart.")
    if "vega/v" in str(spec.get("$schema", "")) or "signals" in spec:
        raise NotDrawn("It is written in Vega; Vega-Lite is drawn here.")
    if isinstance(spec.get("data"), dict) and "datasets" in spec["data"]:
        spec = _from_chart_js(spec)
    return drawing_of(plot_of(spec))


def _from_chart_js(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The same chart in the words of Vega-Lite."""
    kind, data = str(spec.get("type", "")), spec["data"]
    if kind not in _CHART_JS:
        raise NotDrawn(f"It is a chart of the kind {kind[:40] or 'none'}, which is not drawn here.")
    labels, sets = data.get("labels") or [], data.get("datasets") or []
    if not isinstance(labels, list) or not isinstance(sets, list):
        raise NotDrawn("Its data is no list of rows.")
    rows, names = [], []
    for number, one in enumerate(sets[:40]):
        found = one.get("data") if isinstance(one, dict) else None
        name = str(one.get("label", f"{number + 1}")) if isinstance(one, dict) else ""
        names.append(name)
        for index, value in enumerate(found if isinstance(found, list) else []):
            pair = value if isinstance(value, dict) else {}
            label = str(labels[index]) if index < len(labels) else str(index + 1)
            rows.append({"label": pair.get("x", label), "value": pair.get("y", None if pair else value), "set": name})
    options = spec.get("options") if isinstance(spec.get("options"), dict) else {}
    plugins = options.get("plugins") if isinstance(options, dict) and isinstance(options.get("plugins"), dict) else {}
    title = (plugins or options or {}).get("title")
    made: dict[str, Any] = {
        "data": {"values": rows},
        "mark": _CHART_JS[kind],
        "title": title if isinstance(title, dict) else "",
    }
    if _CHART_JS[kind] == "arc":
        if len(names) > 1:
            raise NotDrawn("It has several pies, and one alone is drawn here.")
        made["encoding"] = {"theta": {"field": "value"}, "color": {"field": "label", "sort": None, "title": ""}}
        made["mark"] = {"type": "arc", "innerRadius": 1 if kind == "doughnut" else 0}
        return made
    lies = kind == "horizontalBar" or (options or {}).get("indexAxis") == "y"
    place = {"field": "label", "type": "quantitative" if kind == "scatter" else "ordinal", "sort": None, "title": ""}
    amount = {"field": "value", "type": "quantitative", "title": "", "stack": False}
    made["encoding"] = {"y": place, "x": amount} if lies else {"x": place, "y": amount}
    if len(names) > 1:
        made["encoding"]["color"] = {"field": "set", "sort": None, "title": ""}
        if _CHART_JS[kind] == "bar":
            made["encoding"]["yOffset" if lies else "xOffset"] = {"field": "set", "sort": None}
    return made

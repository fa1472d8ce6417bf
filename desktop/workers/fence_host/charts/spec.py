"""A specification as what is to be plotted. What it asks for is known here, or is the reason of a refusal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.workers.fence_host.charts.values import Row
from desktop.workers.fence_host.undrawn import NotDrawn

ROWS, LAYERS = 20_000, 30
MARKS = {
    "bar": "bar",
    "line": "line",
    "trail": "line",
    "area": "area",
    "point": "point",
    "circle": "point",
    "square": "point",
    "tick": "tick",
    "arc": "arc",
    "rule": "rule",
    "text": "text",
}
_TYPES = {"q": "quantitative", "n": "nominal", "o": "ordinal", "t": "temporal"}
_CHANNELS = frozenset(
    (
        "x",
        "y",
        "color",
        "fill",
        "stroke",
        "xOffset",
        "yOffset",
        "theta",
        "size",
        "text",
        "shape",
        "strokeDash",
        "x2",
        "y2",
    )
)
_WITHOUT_EFFECT = frozenset(
    (
        "tooltip",
        "href",
        "url",
        "key",
        "description",
        "order",
        "detail",
        "opacity",
        "fillOpacity",
        "strokeOpacity",
        "strokeWidth",
        "radius",
    )
)
_SPLITS = {"row": "row", "column": "column", "facet": "facet"}
_SEVERAL = ("hconcat", "vconcat", "concat", "repeat", "facet")


@dataclass(slots=True)
class Channel:
    """How one field is shown."""

    name: str = ""
    """The field."""
    kind: str = ""
    """quantitative, temporal, nominal or ordinal; "" where it is not said."""
    title: str = ""
    """What the axis or the legend is called."""
    aggregate: str = ""
    """What many values come to."""
    unit: str = ""
    """The part of a time that counts."""
    bins: int = 0
    """Into how many ranges numbers are put."""
    sort: Any = ""
    """The order of categories, as it is said."""
    zero: bool | None = None
    """Whether 0 belongs to the axis."""
    log: bool = False
    """Whether the axis is logarithmic."""
    domain: tuple[float, float] | None = None
    """From where to where it goes."""
    names: list[str] | None = None
    """The categories, as they are said."""
    stack: Any = "zero"
    """zero, normalize, or False."""
    hidden: bool = False
    """Whether there is no axis."""
    value: Any = None
    """The same for all rows, in the place of a field."""

    @property
    def is_given(self) -> bool:
        return bool(self.name or self.aggregate == "count")


@dataclass(slots=True)
class PlotLayer:
    """One kind of marks over the rows."""

    mark: str
    rows: list[Row]
    channels: dict[str, Channel] = field(default_factory=dict)
    points: bool = False
    """Whether a line has a point at each value."""
    lies: bool = False
    """Whether it says that its amounts go along x."""
    hole: float = 0.0
    """The part of a pie that is left out in its middle."""

    def get(self, name: str) -> Channel:
        return self.channels.get(name) or Channel()


@dataclass(slots=True)
class Plot:
    """All of it."""

    title: str
    width: float
    height: float
    layers: list[PlotLayer]


def plot_of(spec: Mapping[str, Any]) -> Plot:
    """Raises NotDrawn."""
    for name in _SEVERAL:
        if name in spec:
            raise NotDrawn(f"It is several charts ({name}), and one alone is drawn here.")
    datasets = spec.get("datasets") if isinstance(spec.get("datasets"), dict) else {}
    layers = list(_layers(spec, datasets, None, {}, 0))
    if not layers:
        raise NotDrawn("It says no mark, such as bar or line.")
    if any(layer.mark == "arc" for layer in layers) and len(layers) > 1:
        raise NotDrawn("It lays a pie over something else, which is not drawn here.")
    return Plot(_title(spec.get("title")), _side(spec.get("width")), _side(spec.get("height")), layers)


def _layers(
    spec: Mapping[str, Any], datasets: Any, rows: Any, around: Mapping[str, Any], depth: int
) -> Iterator[PlotLayer]:
    if depth > 3:
        raise NotDrawn("It has layers in layers in layers.")
    if spec.get("transform"):
        names = sorted({str(key) for one in _list(spec["transform"]) if isinstance(one, dict) for key in one})
        raise NotDrawn(f"It computes its data ({', '.join(names)[:80] or 'transform'}), which is not done here.")
    if "projection" in spec:
        raise NotDrawn("It is a map.")
    if "data" in spec:
        rows = _rows(spec["data"], datasets)
    encoding = {**around, **_dict(spec.get("encoding"))}
    if "layer" in spec:
        for one in _list(spec["layer"]):
            yield from _layers(_dict(one), datasets, rows, encoding, depth + 1)
        return
    if "mark" in spec:
        yield _layer(spec["mark"], rows, encoding)


def _layer(mark: Any, rows: Any, encoding: Mapping[str, Any]) -> PlotLayer:
    kind = str(mark.get("type", "")) if isinstance(mark, dict) else str(mark)
    if kind not in MARKS:
        raise NotDrawn(f"It has marks of the kind {kind[:40] or 'none'}, which are not drawn here.")
    if rows is None:
        raise NotDrawn("It has no data in it.")
    made = PlotLayer(MARKS[kind], rows, _channels(encoding))
    if isinstance(mark, dict):
        made.points = bool(mark.get("point"))
        made.lies = mark.get("orient") == "horizontal"
        made.hole = 0.55 if mark.get("innerRadius") else 0.0
    return made


def _rows(data: Any, datasets: Any) -> list[Row]:
    if not isinstance(data, dict):
        raise NotDrawn("It has no data in it.")
    if "url" in data:
        raise NotDrawn("Its data is at an address, and nothing is fetched for a drawing.")
    found = datasets.get(str(data.get("name"))) if "name" in data and "values" not in data else data.get("values")
    if "sequence" in data or isinstance(found, str) or not isinstance(found, list):
        raise NotDrawn("Its data is no list of rows.")
    if len(found) > ROWS:
        raise NotDrawn(f"It has more than {ROWS:,} rows.")
    return [row if isinstance(row, dict) else {"data": row} for row in found]


def _channels(encoding: Mapping[str, Any]) -> dict[str, Channel]:
    made: dict[str, Channel] = {}
    for name, told in encoding.items():
        if name in _SPLITS:
            raise NotDrawn(f"It is split into several charts ({name}), and one alone is drawn here.")
        if name in _WITHOUT_EFFECT:
            continue
        if name not in _CHANNELS:
            raise NotDrawn(f"It shows something by {str(name)[:40]}, which is not drawn here.")
        if isinstance(told, dict):
            made[name] = _channel(told)
    for name in ("fill", "stroke", "shape", "strokeDash"):
        other = made.pop(name, None)
        if other is not None and other.is_given and "color" not in made:
            made["color"] = other
    return made


def _channel(told: Mapping[str, Any]) -> Channel:
    if isinstance(told.get("condition"), dict) and "field" in told["condition"] and "field" not in told:
        told = {**told, **told["condition"]}
    field_name = told.get("field", "")
    if "impute" in told:
        raise NotDrawn("It fills in values that are missing (impute), which is not done here.")
    if isinstance(field_name, dict):
        raise NotDrawn("It repeats over fields, which is not drawn here.")
    scale, axis = told.get("scale"), told.get("axis", told.get("legend", {}))
    made = Channel(
        name=str(field_name)[:200].replace("\\.", ".").replace("['", ".").replace("']", ""),
        kind=_TYPES.get(str(told.get("type", ""))[:1].casefold(), ""),
        aggregate=_aggregate(told.get("aggregate", "")),
        unit=_unit(told.get("timeUnit")),
        sort=told.get("sort", ""),
        hidden="axis" in told and axis is None,
        value=told.get("value", told.get("datum")),
    )
    made.bins = _bins(told.get("bin"))
    stack = told.get("stack", "zero")
    made.stack = False if stack in (None, False) else "zero" if stack is True else stack
    if made.stack not in ("zero", "normalize", False):
        raise NotDrawn(f"It stacks by {str(made.stack)[:40]}, which is not drawn here.")
    _scaled(made, _dict(scale))
    titles = [told[key] for key in ("title",) if key in told] + [
        _dict(axis)[key] for key in ("title",) if key in _dict(axis)
    ]
    made.title = _title(titles[0]) if titles else _named(made)
    return made


def _scaled(made: Channel, scale: Mapping[str, Any]) -> None:
    kind = scale.get("type", "")
    if kind not in ("", "linear", "log", "band", "point", "ordinal", "time", "utc"):
        raise NotDrawn(f"It has a scale of the kind {str(kind)[:40]}, which is not drawn here.")
    made.log = kind == "log"
    made.zero = bool(scale["zero"]) if isinstance(scale.get("zero"), bool) else None
    domain = scale.get("domain")
    if isinstance(domain, list):
        if len(domain) == 2 and all(type(one) in (int, float) for one in domain) and domain[0] < domain[1]:
            made.domain = float(domain[0]), float(domain[1])
        else:
            made.names = [str(one)[:120] for one in domain[:200]]


def _aggregate(told: Any) -> str:
    if isinstance(told, dict):
        raise NotDrawn("It takes the value of another row, which is not drawn here.")
    return str(told or "")


def _unit(told: Any) -> str:
    if isinstance(told, dict):
        told = told.get("unit", "")
    return str(told or "")


def _bins(told: Any) -> int:
    if told == "binned" or (isinstance(told, dict) and told.get("binned")):
        raise NotDrawn("Its numbers are in ranges already (binned), which is not drawn here.")
    if isinstance(told, dict):
        most = told.get("maxbins", 10)
        return max(2, min(100, most)) if isinstance(most, int) else 10
    return 10 if told is True else 0


def _named(channel: Channel) -> str:
    if channel.aggregate == "count":
        return "Count of records"
    return f"{channel.aggregate.capitalize()} of {channel.name}" if channel.aggregate else channel.name


def _title(told: Any) -> str:
    if isinstance(told, dict):
        told = told.get("text", "")
    if isinstance(told, list):
        told = " ".join(str(one) for one in told)
    return str(told or "")[:200]


def _side(told: Any) -> float:
    return float(min(1_600, max(80, told))) if type(told) in (int, float) else 0.0


def _dict(told: Any) -> Mapping[str, Any]:
    return told if isinstance(told, dict) else {}


def _list(told: Any) -> list[Any]:
    if isinstance(told, list) and len(told) > LAYERS:
        raise NotDrawn(f"It has more than {LAYERS} layers.")
    return told if isinstance(told, list) else []

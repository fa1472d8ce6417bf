"""The bench machinery: targets are read rightly, a broken bench is a row and no failure, the JSON has its shape."""

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import pytest
from devlib import benching

from tests.bench import calibration
from tests.bench.calibration import Calibration, around, measure
from tests.bench.registry import BENCHES, Bench, Figure, bench, conditions, listed, met, row


@pytest.mark.parametrize(
    ("target", "measured", "reference", "kept"),
    [
        ("<= 80", 80, None, True),
        ("<= 80", 80.1, None, False),
        (">= 5000", 5727, None, True),
        (">= 5000", 4999, None, False),
        ("<= 1.25x", 500, 400, True),
        ("<= 1.25x", 501, 400, False),
        ("<= 1.25x", 1, None, False),
        ("<= 50 and <= 0.5x", 40, 90, True),
        ("<= 50 and <= 0.5x", 40, 70, False),
    ],
)
def test_a_target_is_kept_or_not(target: str, measured: float, reference: float | None, kept: bool) -> None:
    assert met(target, Figure(measured, reference)) is kept


@pytest.mark.parametrize(
    ("target", "measured", "reference", "scaled", "kept"),
    [
        ("<= 80", 130, None, 76, True),
        ("<= 80", 130, None, 81, False),
        (">= 5000", 3000, None, 5100, True),
        (">= 5000", 3000, None, 4900, False),
        ("<= 1.25x", 501, 400, 250, False),
        ("<= 50 and <= 0.5x", 80, 170, 47, True),
        ("<= 50 and <= 0.5x", 80, 150, 47, False),
    ],
)
def test_what_is_absolute_is_judged_as_scaled_and_what_is_relative_as_measured(
    target: str, measured: float, reference: float | None, scaled: float, kept: bool
) -> None:
    assert met(target, Figure(measured, reference), scaled) is kept


def test_a_slower_machine_scales_durations_down_and_rates_up() -> None:
    slow = Calibration("interpreter", 7.0, 2.0)
    assert (slow.scaled(50, rate=False), slow.scaled(3000, rate=True)) == (25, 6000)


def test_what_a_bare_loop_is_kept_from_going_on_is_taken_off_a_gap() -> None:
    busy = Calibration("gap", 30.0, 2.0, 30.0)
    assert (busy.scaled(62, rate=False), busy.scaled(10, rate=False)) == (16, 0)


def test_a_machine_that_is_faster_than_normal_makes_no_figure_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(calibration.NORMAL, "interpreter", math.inf)
    assert measure("interpreter").slower == 1.0


def test_a_machine_that_becomes_slower_during_a_bench_counts_as_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = [0.0]

    def work() -> float:
        time.sleep(pauses[0])
        return 3.5 + 1000 * pauses[0]

    monkeypatch.setitem(calibration._MEASURES, "interpreter", work)
    assert around("interpreter", lambda: pauses.__setitem__(0, 0.01)).slower > 3.8
    assert around("interpreter", lambda: pauses.__setitem__(0, 0.0)).slower > 3.8


@pytest.mark.parametrize("kind", ["interpreter", "cpu", "disk", "process", "gap"])
def test_each_kind_of_work_is_really_measured(kind: calibration.Kind) -> None:
    found = measure(kind)
    assert found.took > 0
    assert found.slower >= 1


@pytest.mark.parametrize(
    ("target", "unit", "by"),
    [
        ("<= 80", "ms", "interpreter"),
        ("<= 80", "ms CPU", "cpu"),
        (">= 80", "calls/s", "interpreter"),
        ("<= 80", "MB", None),
        ("<= 20", "%", None),
        ("<= 1.5x", "ms", None),
        ("<= 80 and <= 1.5x", "us", "interpreter"),
    ],
)
def test_a_bench_is_scaled_by_the_work_that_its_unit_asks_for(target: str, unit: str, by: str | None) -> None:
    name = f"scaled: {target} {unit}"
    bench(name, target=target, unit=unit)(lambda: Figure(1))
    assert BENCHES.pop(name).by == by


def test_a_row_says_what_a_figure_is_against_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(calibration._MEASURES, "interpreter", lambda: 7.0)
    found = row(Bench("slow", "<= 50", "ms", lambda: Figure(70), "interpreter"))
    assert (found["measured"], found["scaled"], found["met"]) == (70, 35, True)
    assert found["against"] == "10x a loop of the interpreter (7 ms)"
    rate = row(Bench("rate", ">= 100", "calls/s", lambda: Figure(60), "interpreter"))
    assert (rate["scaled"], rate["met"], rate["against"][:5]) == (120, True, "2.38x")


@pytest.mark.parametrize("target", ["", "fast", "< 3", "<= 3 ms", "<= x"])
def test_a_target_that_cannot_be_read_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="no target"):
        conditions(target)


def test_two_benches_cannot_share_a_name() -> None:
    register = bench("only in this test", target="<= 1", unit="ms")
    register(lambda: Figure(1))
    with pytest.raises(ValueError, match="two benches"):
        bench("only in this test", target="<= 1", unit="ms")


def test_a_broken_bench_is_a_row_that_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> Figure:
        raise RuntimeError("no window here")

    found = row(Bench("b", "<= 1", "ms", broken))
    assert (found["measured"], found["met"], found["note"]) == (None, False, "RuntimeError: no window here")
    assert not row(Bench("b", "<= 1", "ms", lambda: Figure(float("nan"))))["met"]


def test_every_bench_file_loads_and_names_differ() -> None:
    script = "import json; from tests.bench.registry import listed; print(json.dumps(listed()))"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=120)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["broken"] == []
    assert {"start to first paint", "idle memory"} <= {item["name"] for item in found["benches"]}


def test_a_file_that_does_not_load_is_listed_as_broken(tmp_path: Path) -> None:
    (tmp_path / "bench_that_is_not_there.py").touch()
    assert "ModuleNotFoundError" in listed(tmp_path)["broken"][0]["error"]


def test_the_json_holds_rows_of_the_agreed_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = row(Bench("quick", "<= 2x", "ms", lambda: Figure(3.14159, 2)))
    monkeypatch.setattr(benching, "_listed", lambda: ([benching.Bench("quick", "f"), benching.Bench("slow", "f")], []))
    monkeypatch.setattr(benching, "_calibration", lambda: {"disk": {"ms": 0.4, "times normal": 2.0}})
    monkeypatch.setattr(benching, "_measure", lambda found: {**kept, "name": found.name})
    assert benching.run_benches(["qu*"], tmp_path / "out.json") == 0
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["machine"]["calibration"]["disk"]["times normal"] == 2.0
    assert written["rows"] == [
        {
            "name": "quick",
            "measured": 3.142,
            "unit": "ms",
            "scaled": None,
            "target": "<= 2x",
            "met": True,
            "reference": 2.0,
            "against": "",
            "note": "",
        }
    ]
    told = capsys.readouterr()
    assert "quick" in told.out
    assert "disk 0.4 ms (2x)" in told.out + told.err

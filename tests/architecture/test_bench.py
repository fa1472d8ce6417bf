"""The bench machinery: targets are read rightly, a broken bench is a row and no failure, the JSON has its shape."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from devlib import benching

from tests.bench.registry import Bench, Figure, bench, conditions, listed, met, row


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
    monkeypatch.setattr(benching, "_measure", lambda found: {**kept, "name": found.name})
    assert benching.run_benches(["qu*"], tmp_path / "out.json") == 0
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert rows == [
        {"name": "quick", "measured": 3.142, "unit": "ms", "target": "<= 2x", "met": True, "reference": 2.0, "note": ""}
    ]
    assert "quick" in capsys.readouterr().out

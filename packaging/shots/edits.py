"""Requests to change parts of a file."""

from __future__ import annotations

import time

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.tools.builtin.edits.encoded import decoded
from desktop.tools.builtin.edits.places import TextEdit, apply, find_places
from desktop.tools.builtin.edits.shown import preview_of

HOME = "/home/ida/work/harbour-sensors"
CHANGED = "@ line 5\n-def load(path: Path, station: str) -> pd.DataFrame:\n+def load(path: Path, station: str):"
INGEST = (
    """import pandas as pd
from pathlib import Path


def load(path: Path, station: str) -> pd.DataFrame:
    rows = pd.read_csv(path, parse_dates=[0])
    return rows.set_index("time")


"""
    + "\n".join(f"STATION_{n} = {n}" for n in range(1, 160))
    + """


def store(rows: pd.DataFrame, db: Connection) -> int:
    rows.to_sql("levels", db, if_exists="append")
    return len(rows)
"""
)
"""A file of which two parts are changed."""
EDITS = (
    {
        "old": "parse_dates=[0])",
        "new": 'parse_dates=["time"], dtype={"station": str})\n    rows = rows.drop_duplicates(["station", "time"])',
    },
    {
        "old": '    rows.to_sql("levels", db, if_exists="append")\n    return len(rows)',
        "new": '    done = merge(rows, "levels", db, by=["station", "time"])\n    return done',
    },
)


def edit_request(changed: str = "") -> PermissionRequest:
    """Two edits of a file; ``changed``: what changed in it since the first answer."""
    file = decoded(INGEST.encode())
    edits = [TextEdit.of(edit) for edit in EDITS]
    places = find_places(file.plain, edits)
    shown = preview_of(f"{HOME}/scripts/ingest.py", file, edits, places, apply(file, edits, places))
    bound = {"read_at": time.time() - 600, "lines": 173, "size": len(INGEST), "digest": "9f3c41d0", "changed": changed}
    return PermissionRequest(
        request_id="r7" if not changed else "r8",
        run_id="run3",
        thread_id="t3",
        call_id="c7",
        tool="edit-file",
        description="Change parts of a text file",
        category=Category.WRITE,
        raised_because="",
        chain=("Workbench",),
        arguments={"path": "scripts/ingest.py", "edits": list(EDITS)},
        paths=(f"{HOME}/scripts/ingest.py",),
        judgements=(),
        preview={**shown, "bound": {**bound, "ends": "LF", "encoding": "UTF-8"}},
        digest="d7" if not changed else "d8",
        asked_at=time.time() - 134,
        stale=bool(changed),
    )

"""``python -m tests.unit.library.hostile_summary``: every hostile program, and one table of what was tried and held."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from desktop.domain.code import CodeLimits
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.library.test_code_gates import Never, run_gates, world
from tests.unit.workers.hostile_code import CLASSES, Count, run_class, table


async def _all() -> list[Count]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "empty"
        folder.mkdir()
        counts = [await run_class(kind, str(folder)) for kind in CLASSES]
        engine = JsEngine(lambda: WorkerSpec(str(folder), *code_sandbox_profile()), CodeLimits(cpu_s=5))
        person = Never()
        counts.append(await run_gates(world(Path(name), engine, person), person))
        await engine.close()
        return counts


def main() -> int:
    """Run and print everything."""
    counts = asyncio.run(_all())
    print("\n".join([*(problem for count in counts for problem in count.problems), table(counts)]))
    print(f"{'all':<12}{sum(count.tried for count in counts):>7}{sum(count.held for count in counts):>7}")
    return 1 if any(count.problems for count in counts) else 0


if __name__ == "__main__":
    sys.exit(main())

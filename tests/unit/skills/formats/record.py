"""Records what the reference validator of Agent Skills says about the folders in ``agent_skills.json``.

It is no dependency of the project: run this in an environment of its own, once, when a case was added.

    python3 -m venv /tmp/skills-ref && /tmp/skills-ref/bin/pip install skills-ref==0.1.1
    /tmp/skills-ref/bin/python tests/unit/skills/formats/record.py

A case has ``folder``, ``text`` (of its ``file``, SKILL.md when not given; null: no file) and, recorded, ``errors``.
"""

import importlib
import json
import tempfile
from pathlib import Path

CASES = Path(__file__).with_name("agent_skills.json")


def main() -> None:
    validate = importlib.import_module("skills_ref").validate
    cases = json.loads(CASES.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as root:
        for name, case in cases.items():
            folder = Path(root) / name / case["folder"]
            folder.mkdir(parents=True)
            if case["text"] is not None:
                (folder / case.get("file", "SKILL.md")).write_bytes(case["text"].encode("utf-8"))
            try:
                found = validate(folder)
            except Exception as error:
                found = [f"raises {type(error).__name__}"]
            case["errors"] = [line.replace(str(folder), "FOLDER") for line in found]
    CASES.write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()

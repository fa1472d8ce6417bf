"""The pages for users and the samples in them, for the tests that run those samples."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELP = ROOT / "resources" / "help"


def page(name: str) -> str:
    """The text of a page, named as its file is without ``.md``."""
    return (HELP / f"{name}.md").read_text("utf-8")


def samples(name: str, *languages: str) -> list[str]:
    """The code blocks of a page in these languages, in their order."""
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```", page(name), re.DOTALL | re.MULTILINE)

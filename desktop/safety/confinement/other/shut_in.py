"""Nothing with which a worker could shut itself in: empty texts, by which it knows."""

from __future__ import annotations

launcher_file = ""


def code_sandbox_profile(*, in_a_loop: bool = False) -> tuple[str, str]:  # noqa: ARG001 - as on Linux
    """(the file that knows how, the filter of system calls): neither."""
    return "", ""


def drawing_profile() -> tuple[str, str, str]:
    """The same for what draws pages."""
    return "", "", ""

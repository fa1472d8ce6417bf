"""Skill files of every format, read without running anything (semantics.md 2; S2; R-SK-1 … R-SK-10)."""

from desktop.skills.formats.loader import load_from_bytes, load_skills_from_file, read_body
from desktop.skills.formats.records import LoadedFile

__all__ = ["LoadedFile", "load_from_bytes", "load_skills_from_file", "read_body"]

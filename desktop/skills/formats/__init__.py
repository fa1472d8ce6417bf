"""Skill files of every format, read without running anything (R-SK-1 … R-SK-10).

Everything here blocks and never raises for what a file says; problems carry line and column. ``PyYAML`` and
``jsonschema_rs`` are imported by the first file that needs them: call from a thread.
"""

from desktop.skills.formats.category import effective_category
from desktop.skills.formats.folder import FolderFile, FolderFiles, folder_files
from desktop.skills.formats.loader import load_from_bytes, load_skills_from_file, read_body, skill_kind
from desktop.skills.formats.records import LoadedFile

__all__ = [
    "FolderFile",
    "FolderFiles",
    "LoadedFile",
    "effective_category",
    "folder_files",
    "load_from_bytes",
    "load_skills_from_file",
    "read_body",
    "skill_kind",
]

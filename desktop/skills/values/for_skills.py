"""The module ``assent`` of skills in Python: the helpers that their code needs, on plain values and contexts.

Only the standard library and this folder are behind it: it works inside a skill's own process.
"""

from desktop.skills.values.contexts import ctx_cwd, ctx_hook_target, ctx_hook_trigger, ctx_paths, ctx_target
from desktop.skills.values.path_entries import extract_ignore, filter_paths, iter_paths, map_paths, path_entry_dir
from desktop.skills.values.paths import is_meta_key, path_get, path_keys, path_query, path_remove, path_set
from desktop.skills.values.serialise import (
    deserialize,
    parse,
    safe_clone,
    safe_snapshot,
    safe_stringify,
    serialize,
    serialize_context,
    stringify,
)

__all__ = [
    "ctx_cwd",
    "ctx_hook_target",
    "ctx_hook_trigger",
    "ctx_paths",
    "ctx_target",
    "deserialize",
    "extract_ignore",
    "filter_paths",
    "is_meta_key",
    "iter_paths",
    "map_paths",
    "parse",
    "path_entry_dir",
    "path_get",
    "path_keys",
    "path_query",
    "path_remove",
    "path_set",
    "safe_clone",
    "safe_snapshot",
    "safe_stringify",
    "serialize",
    "serialize_context",
    "stringify",
]

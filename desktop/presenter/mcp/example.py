"""What the page of mcp.yaml offers to begin with, and how a form puts a server into the text. No Qt."""

import json
import re
from collections.abc import Mapping

EXAMPLE = """\
# Each entry is an MCP server. Its tools become tools here once you have looked at them.
servers:
  - name: files
    command: npx                   # one program, by name or absolute path; it is confined like commands
    args: ["-y", "@modelcontextprotocol/server-filesystem", "."]
    env: {}                        # the whole of it beside the allowlist; keys as "${keyring:service/user}"
    network: true                  # leave it out to follow the setting for commands
    enabled: false                 # nothing starts before you say so
    category: admin                # of its tools: read runs, write asks each time, admin asks and is never remembered
    tools:
      list_directory: read         # for this one alone
"""

_ITEM = re.compile(r"^( *)- ")
_KEY = re.compile(r"[^\s#-]")


def with_server(text: str, entry: Mapping[str, object]) -> str:
    """The text of mcp.yaml with one more server at the end of its list, in the indent that it has; everything else,
    comments too, stays as it is. Values are written as JSON, which YAML reads."""
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    start = next((at for at, line in enumerate(lines) if line.startswith("servers:")), None)
    if start is None:
        lines.append("servers:")
        start = len(lines) - 1
    elif lines[start].removeprefix("servers:").strip() in ("[]", "~", "null"):
        lines[start] = "servers:"
    end = next((at for at in range(start + 1, len(lines)) if _KEY.match(lines[at])), len(lines))
    indent = next((found[1] for line in lines[start + 1 : end] if (found := _ITEM.match(line))), "  ")
    written = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    block = [f"{indent}{'- ' if not at else '  '}{line}" for at, line in enumerate(written)]
    return "\n".join([*lines[:end], *block, *lines[end:]]) + "\n"

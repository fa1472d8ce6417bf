"""A server with one tool, of the name that it is started with."""

import json
import sys
from typing import Any


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    tool = {"name": sys.argv[1], "description": "A tool.", "inputSchema": {"type": "object", "properties": {}}}
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            about = {"serverInfo": {"name": "named", "version": "1"}, "capabilities": {"tools": {}}}
            send(id=number, result={"protocolVersion": "2025-11-25", **about})
        elif method == "tools/list":
            send(id=number, result={"tools": [tool]})
        elif number is not None:
            send(id=number, error={"code": -32601, "message": "unknown"})


if __name__ == "__main__":
    main()

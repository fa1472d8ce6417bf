"""An MCP server in plain Python that misbehaves beside its tools: floods, endless lists, tasks, eras. Its first
argument names how; ``MODES`` says what each does instead of what is right."""

import json
import os
import sys
import time
from pathlib import Path

MODE = sys.argv[1]
REST = sys.argv[2:]
MANY = 100_000
LISTED = []
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(message, result):
    send({"id": message["id"], "result": result})


def refuse(message, code=-32601, text="Method not found", data=None):
    send({"id": message["id"], "error": {"code": code, "message": text, **({"data": data} if data else {})}})


def words(text):
    return {"content": [{"type": "text", "text": text}]}


def flood(method, params=None):
    """As fast as the pipe takes it."""
    line = json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}) + "\n"
    for _ in range(MANY // 1000):
        sys.stdout.write(line * 1000)
    sys.stdout.flush()


# -- what is right, where no mode says otherwise ----------------------------------------------------------------------


def initialize(message):
    capabilities = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}}
    tasks = {"tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}}}
    info = {"name": "unruly", "version": "1"}
    said = {"protocolVersion": "2025-11-25", "capabilities": {**capabilities, **tasks}, "serverInfo": info}
    answer(message, said)


def tools(message):
    echo = {"name": "echo", "description": "Echoes.", "inputSchema": SCHEMA}
    if MODE in ("forever", "forgets", "slow"):
        echo["execution"] = {"taskSupport": "required"}
    if MODE in ("misfit", "nothing"):
        echo["outputSchema"] = OUTPUT
    answer(message, {"tools": [echo], "resultType": "complete"})


def call(message):
    answer(message, {**words(str(message["params"].get("arguments", {}).get("text", ""))), "resultType": "complete"})


def ignore(message):
    return None


RIGHT = {
    "initialize": initialize,
    "tools/list": tools,
    "tools/call": call,
    "resources/list": lambda message: answer(message, {"resources": [{"uri": "x://one", "name": "one"}]}),
    "resources/templates/list": lambda message: answer(message, {"resourceTemplates": []}),
    "prompts/list": lambda message: answer(message, {"prompts": [{"name": "greet"}]}),
    "resources/read": lambda message: answer(message, {"contents": [{"uri": "x://one", "text": "one"}]}),
    "resources/subscribe": lambda message: answer(message, {}),
    "prompts/get": lambda message: answer(
        message, {"messages": [{"role": "user", "content": words("hi")["content"][0]}]}
    ),
    "notifications/initialized": ignore,
}


# -- floods -----------------------------------------------------------------------------------------------------------


def progress(message):
    flood("notifications/progress", {"progressToken": message["id"], "progress": 1, "message": "\x1b[31mhere" * 50})
    call(message)


def changes(message):
    flood("notifications/resources/list_changed")
    call(message)


def updates(message):
    answer(message, {})
    flood("notifications/resources/updated", {"uri": "x://one"})


def some_changes(message):
    """As many as an eager server sends."""
    for number in range(300):
        send({"method": "notifications/resources/updated", "params": {"uri": "x://one"}})
        send({"method": "notifications/prompts/list_changed", "params": {"number": number}})
        send({"method": "notifications/progress", "params": {"progressToken": message["id"], "progress": number}})
    call(message)


# -- lists and contents -----------------------------------------------------------------------------------------------


def cursors(message):
    at = int(message.get("params", {}).get("cursor", "0"))
    answer(message, {"resources": [{"uri": f"x://{at}"}], "nextCursor": str(at + 1)})


def same_cursor(message):
    LISTED.append(message)
    answer(message, {"prompts": [{"name": f"greet {len(LISTED)}"}], "nextCursor": "again"})


def odd_contents(message):
    contents = [
        {"uri": "file:///etc/shadow", "text": "root:\x1b[31m*\u202e:1"},
        {"uri": "x://picture", "mimeType": "image/png", "blob": "aGVsbG8="},
        {"uri": "x://none"},
        {"uri": 5, "blob": "UEsDBA=="},
        7,
        *({"uri": f"x://{number}", "text": "y" * 3_000} for number in range(300)),
    ]
    answer(message, {"contents": contents})


def huge_image(message):
    data = "iVBORw0KGgo" + "A" * 100_000_000
    send({"id": message["id"], "result": {"content": [{"type": "image", "mimeType": "image/png", "data": data}]}})


def dies(message):
    os._exit(9)


def misfit(message):
    answer(message, {**words("said"), "structuredContent": {"n": "many"}})


# -- tasks ------------------------------------------------------------------------------------------------------------


def task(status, **more):
    times = {"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": None}
    return {"taskId": "t1", "status": status, "pollInterval": 1, **times, **more}


def begin(message):
    Path(REST[0]).write_text("begun") if REST else None
    answer(message, {"task": task("working")} if "task" in message["params"] else words("no task"))


def forever(message):
    answer(message, task("working", statusMessage="still\x1b[31m at it"))


def done_if_told(message):
    """Done once the file says so; after a restart, which takes the file's word away, nothing is known."""
    said = Path(REST[0]).read_text()
    if said == "restarted":
        refuse(message, -32602, "Unknown task")
    else:
        answer(message, task("completed" if said == "done" else "working"))


def ends(message):
    Path(REST[0]).write_text("ended")
    answer(message, task("cancelled"))


def forgets(message):
    if Path(REST[0]).exists() and Path(REST[0]).read_text() != "done":
        Path(REST[0]).write_text("restarted")
    initialize(message)


# -- eras -------------------------------------------------------------------------------------------------------------


def newer(message):
    capabilities = {"tools": {}, "resources": {}}
    answer(message, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities})


def wrong_revision(message):
    refuse(message, -32022, "no", {"supported": ["2026-07-28"], "requested": "2025-11-25"})


def future(message):
    refuse(message, -32022, "no", {"supported": ["2031-01-01"], "requested": "2026-07-28"})


def patience(message):
    """Never done, and asks for nothing."""
    answer(message, {"resultType": "input_required", "requestState": "s" * 100})


def wants_models(message):
    wish = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
    answer(message, {"resultType": "input_required", "inputRequests": {"a": wish}})


def wants_much(message):
    wish = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {"type": "object"}}}
    answer(message, {"resultType": "input_required", "inputRequests": {str(n): wish for n in range(500)}})


MODES = {
    "plain": {},
    "progress": {"tools/call": progress},
    "changes": {"tools/call": changes},
    "updates": {"resources/subscribe": updates},
    "eager": {"tools/call": some_changes},
    "cursors": {"resources/list": cursors, "prompts/list": same_cursor},
    "contents": {"resources/read": odd_contents},
    "huge": {"tools/call": huge_image},
    "dies-reading": {"resources/read": dies},
    "misfit": {"tools/call": misfit},
    "nothing": {},
    "forever": {"tools/call": begin, "tasks/get": forever, "tasks/cancel": ends},
    "slow": {"tools/call": begin, "tasks/get": done_if_told, "tasks/result": lambda m: answer(m, words("the end"))},
    "forgets": {"initialize": forgets, "tools/call": begin, "tasks/get": done_if_told},
    "mute": {"server/discover": ignore},
    "stalls": {"resources/list": ignore, "resources/read": ignore},
    "newer": {"server/discover": newer, "initialize": wrong_revision},
    "newer-late": {"initialize": wrong_revision},
    "future": {"server/discover": future, "initialize": future},
    "garbage-era": {"server/discover": lambda message: answer(message, {"supportedVersions": 7})},
    "patience": {"server/discover": newer, "tools/call": patience},
    "models": {"server/discover": newer, "tools/call": wants_models},
    "much": {"server/discover": newer, "tools/call": wants_much},
}


def main():
    handlers = {**RIGHT, **MODES[MODE]}
    asked = 0
    for message in map(json.loads, sys.stdin):
        method = message.get("method")
        if MODE == "newer-late" and method == "server/discover":
            asked += 1  # the first is answered too late to count, the second late, too
            time.sleep(0 if asked < 2 else 3.5)
            handlers[method] = newer if asked > 1 else ignore
        if handler := handlers.get(method):
            handler(message)
        elif "id" in message and method:
            refuse(message)


main()

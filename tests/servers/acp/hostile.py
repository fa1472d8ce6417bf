"""An agent that breaks one rule of the protocol, named by its first argument; the rest of it is as it should be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SERVERS: list[dict[str, Any]] = []
"""The MCP servers that the client has declared."""


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(**fields: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": "s", "update": fields}})


def say(text: str) -> None:
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def heard() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    found: dict[str, Any] = json.loads(line)
    return found


def asks(number: int, method: str, **params: Any) -> None:
    send({"id": number, "method": method, "params": {"sessionId": "s", **params}})


def permission(number: int) -> None:
    options = [
        {"optionId": "y", "name": "Allow", "kind": "allow_once"},
        {"optionId": "n", "name": "Reject", "kind": "reject_once"},
    ]
    act = {"toolCallId": "t", "title": "Change things", "kind": "edit"}
    asks(number, "session/request_permission", toolCall=act, options=options)


def answer_to(number: int) -> dict[str, Any]:
    while True:
        found = heard()
        if found.get("id") == number and "method" not in found:
            return found


def dies() -> None:
    say("half a wo")
    os._exit(3)


def streams() -> None:
    block = "x" * 60_000
    while True:
        say(block)


def flood() -> None:
    for number in range(100_000):
        update(sessionUpdate="plan", entries=[{"content": f"step {number}", "status": "pending", "priority": "low"}])
    say("flooded")


def tools_flood() -> None:
    (declared,) = SERVERS
    env = {**os.environ, **{one["name"]: one["value"] for one in declared["env"]}}
    bridge = subprocess.Popen([declared["command"], *declared["args"]], stdin=subprocess.PIPE, env=env)
    assert bridge.stdin is not None
    while True:
        bridge.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/x"}\n' * 1_000)


def plans() -> None:
    entries = [{"content": f"step {n} " + "y" * 500, "status": "done" if n else "completed"} for n in range(500)]
    for _ in range(20):
        update(sessionUpdate="plan", entries=[*entries, 7, {"content": 3}])
    say("planned")


def huge() -> None:
    say("z" * (9 * 1024 * 1024))


def garbage() -> None:
    for _ in range(200):
        sys.stdout.write("this is no JSON\n")
    sys.stdout.flush()
    time.sleep(3600)


def unknown() -> None:
    update(sessionUpdate="from_the_future", content=[1, 2])
    update(sessionUpdate=["no", "word"])
    update(sessionUpdate="tool_call", toolCallId=7, title={"a": 1}, status="odd", content="none", locations=[1])
    send({"method": "session/update", "params": "none"})
    send({"method": "_own/thing", "params": {}})
    asks(70, "own/question", what=1)
    refused = answer_to(70)
    asks(71, "fs/read_text_file", path=["not", "a", "path"])
    say(f"{refused['error']['code']} {answer_to(71)['error']['code']}")


def withdraws() -> None:
    permission(80)
    Path("asked").touch() if os.access(".", os.W_OK) else None
    time.sleep(0.3)
    send({"method": "$/cancel_request", "params": {"requestId": 80}})
    say(json.dumps(answer_to(80)["result"]))
    send({"id": 80, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}})
    say(" and on")


def over(**fields: Any) -> None:
    update(sessionUpdate="tool_call_update", toolCallId="t", **fields)


def defies() -> None:
    permission(82)
    answer_to(82)
    over(status="completed")


def heeds() -> None:
    permission(83)
    answer_to(83)
    over(status="failed")


def shifts() -> None:
    permission(84)
    answer_to(84)
    over(kind="execute", rawInput={"command": "rm -r all"}, status="completed")


def keeps_to_it() -> None:
    permission(85)
    answer_to(85)
    over(status="completed")


def acts_as_plan() -> None:
    update(sessionUpdate="tool_call", toolCallId="p", title="2 of 2 done", kind="plan", status="completed")


def cannot() -> None:
    permission(86)
    answer_to(86)
    over(status="failed", content=[{"type": "content", "content": {"type": "text", "text": "EROFS: read-only"}}])


def commands() -> None:
    bad: list[dict[str, Any]] = [
        {"args": [1]},
        {"args": "x"},
        {"env": [{"name": "A;id", "value": "x"}]},
        {"env": [{"name": "A", "value": 1}]},
        {"env": ["A=b"]},
        {"env": {"A": "b"}},
    ]
    for number, more in enumerate(bad):
        asks(90 + number, "terminal/create", command="true", **more)
    say(" ".join(str(answer_to(90 + number)["error"]["code"]) for number in range(len(bad))))


def silent() -> None:
    time.sleep(3600)


def deaf() -> None:
    permission(81)
    answer_to(81)
    while True:
        time.sleep(3600)


def daemon() -> None:
    code = "import time\ntime.sleep(3600.25)"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    say(f"left {child.pid}")


def leaves_and_heeds() -> None:
    daemon()
    while heard().get("method") != "session/cancel":
        pass


def many() -> None:
    for number in range(300):
        asks(1_000 + number, "fs/read_text_file", path="/nowhere")
    refused = sum("error" in heard() for _ in range(300))
    say(f"{refused} refused")


DO = {
    one.__name__: one
    for one in (
        *(dies, streams, flood, tools_flood, plans, huge, garbage, unknown, withdraws, silent, deaf, daemon, many),
        *(defies, heeds, shifts, keeps_to_it, cannot, acts_as_plan, commands, leaves_and_heeds),
    )
}


def main() -> None:
    mode = sys.argv[1]
    while True:
        message = heard()
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            if mode == "mute":
                time.sleep(3600)
            version = 99 if mode == "version" else 1
            send({"id": number, "result": {"protocolVersion": version, "agentCapabilities": {}}})
        elif method == "session/new":
            SERVERS.extend(message["params"]["mcpServers"])
            if mode == "sign-in":
                error = {"code": -32000, "message": "Log in first"}
                send({"id": number, "error": error})
            else:
                send({"id": number, "result": {"sessionId": "s"}})
        elif method == "session/prompt":
            if mode in DO:
                DO[mode]()
            send({"id": number, "result": {"stopReason": "end_turn"}})


if __name__ == "__main__":
    main()

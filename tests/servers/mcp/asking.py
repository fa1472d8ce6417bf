"""An MCP server in plain Python, of the revision 2025-11-25, whose one tool asks the person what it is told to ask.

``ask``: ``questions`` are the parameters of each, as JSON; ``wait``: whether it answers only when all are answered;
``times``: how often it asks the first, one after the other. ``first``: pages that have to be seen before there is an
answer, as the error that names them; ``done``: whether it says that the person is done there, and is content then.
"""

import json
import sys

SCHEMA = {
    "type": "object",
    "properties": {
        "questions": {"type": "array", "items": {"type": "object"}},
        "wait": {"type": "boolean"},
        "times": {"type": "integer"},
        "first": {"type": "array", "items": {"type": "object"}},
        "done": {"type": "boolean"},
    },
}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answered(number, text):
    send({"id": number, "result": {"content": [{"type": "text", "text": text}]}})


def again(number, question, times):
    answers = []
    for at in range(times):
        send({"id": f"q{at}", "method": "elicitation/create", "params": question})
        answers.append(json.loads(sys.stdin.readline())["result"]["action"])
    answered(number, " ".join(answers))


SEEN = set()


def wants_pages(number, pages, done):
    wanted = [page for page in pages if page["elicitationId"] not in SEEN]
    if not wanted:
        answered(number, "seen")
        return
    data = {"elicitations": wanted}
    send({"id": number, "error": {"code": -32042, "message": "see this first", "data": data}})
    if done:
        SEEN.update(page["elicitationId"] for page in wanted)
        for page in [{"elicitationId": "of nobody"}, *wanted]:
            params = {"elicitationId": page["elicitationId"]}
            send({"method": "notifications/elicitation/complete", "params": params})


def ask(number, arguments):
    if "first" in arguments:
        wants_pages(number, arguments["first"], arguments.get("done", True))
        return
    if "times" in arguments:
        again(number, arguments["questions"][0], arguments["times"])
        return
    questions = arguments["questions"]
    for at, question in enumerate(questions):
        send({"id": f"q{at}", "method": "elicitation/create", "params": question})
    if not arguments.get("wait", True):
        answered(number, "did not wait")
        return
    answers = {}
    while len(answers) < len(questions):
        message = json.loads(sys.stdin.readline())
        if str(message.get("id")).startswith("q"):
            answers[message["id"]] = message.get("result") or message.get("error")
        elif message.get("method") == "notifications/cancelled":
            return
    answered(number, json.dumps(answers, sort_keys=True))


for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "asking", "version": "1"}
        about = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": number, "result": about})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": [{"name": "ask", "description": "Asks.", "inputSchema": SCHEMA}]}})
    elif method == "tools/call":
        ask(number, message["params"]["arguments"])
    elif number is not None and method is not None:
        send({"id": number, "error": {"code": -32601, "message": "no such method"}})

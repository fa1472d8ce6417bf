"""A program that is called as llama.cpp's server and answers as one, for as long as the test wants. The name of the
model's file says what becomes of it: ``old`` ends it, ``slow`` never answers."""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

arguments = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
model, port, context = arguments["--model"], int(arguments["--port"]), int(arguments["--ctx-size"])
name = Path(model).stem
print("main: loading model", model, flush=True)
print("environment:", json.dumps(dict(os.environ)), flush=True)
if name == "old":
    print("error loading model architecture: unknown model architecture: 'tide'", file=sys.stderr, flush=True)
    sys.exit(1)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/crash":
            print("GGML_ASSERT(n_tokens > 0) failed", flush=True)
            os.abort()
        settings = {"default_generation_settings": {"n_ctx": context}, "model_path": model}
        row = {"id": name, "owned_by": "llamacpp", "meta": {"n_ctx": context}}
        body = json.dumps({"data": [row]} if self.path == "/v1/models" else settings).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


try:
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
except OSError:
    print(f"couldn't bind HTTP server socket, hostname: 127.0.0.1, port: {port}", file=sys.stderr, flush=True)
    sys.exit(1)
print("main: server is listening", flush=True)
if name == "slow":
    time.sleep(3600)
server.serve_forever()

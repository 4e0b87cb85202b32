"""A server of two calls that each leave a worker behind: see attribution_test.go."""
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

transport, kind, directory = sys.argv[1:]


def at(name):
    return f"{directory}/{name}"


def touch(name):
    open(at(name), "w").close()


def wait(name):
    while not os.path.exists(at(name)):
        time.sleep(0.01)


def work(trigger, call):
    wait(trigger)
    with open(at(f"{call}-late"), "rb") as late:
        late.read()
    touch(f"{call}-done")


def worker(trigger, call):
    if kind == "process":
        script = f"until [ -e {at(trigger)} ]; do sleep 0.01; done; cat {at(call)}-late; : >{at(call)}-done"
        subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return
    threading.Timer(0.01, work, [trigger, call]).start()


def answer(call):
    if call == "first":
        worker("second-begun", "first")
    else:
        worker("idle", "second")
        touch("second-begun")
        wait("first-done")
    return f"{call} is done"


def speak(message):
    """The answer to a message of MCP; None for one that has none."""
    results = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "late", "version": "1"}},
        "tools/list": {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("first", "second")]},
    }
    if "id" not in message:
        return None
    result = results.get(message["method"])
    if not result:
        text = answer(message["params"]["name"])
        result = {"content": [{"type": "text", "text": text}]}
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        said = self.rfile.read(int(self.headers["Content-Length"])).decode()
        body = speak(json.loads(said)) if said.startswith("{") else answer(said)
        self.send_response(200 if body else 202)
        body = (body or "").encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if transport == "stdio":
    for line in sys.stdin:
        print(answer(line.strip()), flush=True)
else:
    server = ThreadingHTTPServer(("127.0.0.1", int(transport)), Handler)
    touch("ready")
    server.serve_forever()

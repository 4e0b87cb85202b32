"""A server of two calls that each leave a worker behind: see attribution_test.go."""
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


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = answer(self.rfile.read(int(self.headers["Content-Length"])).decode()).encode()
        self.send_response(200)
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

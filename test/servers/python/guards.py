"""A server whose tools look at what they are given before they use it, and not closely enough.

    python3 guards.py [fixed]

Each tool has a guard that lets something through: a list of allowed commands that looks at the first word, a filter that
does not know the end of a line, a type that nobody checks. With "fixed" the guards hold. It needs no package.
"""

import json
import shlex
import subprocess
import sys
from typing import Any

FIXED = sys.argv[1:] == ["fixed"]
ALLOWED = ("ls", "pwd", "date")


def run(command: str | list[str]) -> str:
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True, timeout=5)
    return done.stdout or done.stderr


def run_command(command: str) -> str:
    words = shlex.split(str(command))
    if not words or words[0] not in ALLOWED:
        raise ValueError(f"only {', '.join(ALLOWED)} are allowed")
    return run(words if FIXED else command)


def count_words(text: str) -> str:
    text = str(text)
    if not FIXED:
        if any(mark in text for mark in ";&|$`'\"()<>"):
            raise ValueError("the text holds a character that is not allowed")
        return run("echo " + text + " | wc -w")
    return run(["expr", str(len(text.split()))])


def show_pane(pane: Any) -> str:
    return run("echo pane %d" % pane if FIXED else f"echo pane {pane}")


TOOLS = {
    run_command: ("Runs a command. Only ls, pwd and date are allowed.", {"command": {"type": "string", "description": "The command, such as `ls`."}}),
    count_words: ("Counts the words of a text with the program wc.", {"text": {"type": "string"}}),
    show_pane: ("Shows a pane of the screen by running echo.", {"pane": {"type": "integer", "minimum": 1}}),
}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    tool = next((tool for tool in TOOLS if tool.__name__ == name), None)
    try:
        if tool is None:
            raise ValueError(f"there is no tool {name}")
        return {"content": [{"type": "text", "text": tool(**arguments)}]}
    except (OSError, TypeError, ValueError, subprocess.SubprocessError) as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error)}]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "guards", "version": "1.0.0"}}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [{"name": tool.__name__, "description": text, "inputSchema":
                               {"type": "object", "properties": properties, "required": list(properties)}}
                              for tool, (text, properties) in TOOLS.items()]}
        case "tools/call":
            return call(params["name"], params.get("arguments", {}))
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "method not found"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)

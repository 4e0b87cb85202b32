"""A server that keeps to a workspace, or says so: list_files, read_file and write_file over stdio.

    python3 workspace.py DIR [contained|prefix|lexical]

It joins what it is given with DIR and looks no further, so that ".." leads out of it. With "contained" it resolves
the path first, as it should. With "prefix" it takes what begins like DIR for a part of it, with "lexical" it does not
look where links lead. It needs no package.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT, GUARD = Path(sys.argv[1]), (sys.argv[2:] or ["none"])[0]


def inside(path: Path) -> bool:
    match GUARD:
        case "contained":
            return path.resolve().is_relative_to(ROOT.resolve())
        case "prefix":
            return str(path.resolve()).startswith(str(ROOT.resolve()))
        case "lexical":
            return Path(os.path.normpath(path)).is_relative_to(ROOT)
    return True


def within(path: str) -> Path:
    joined = ROOT / path
    if not inside(joined):
        raise ValueError("the path is not in the workspace")
    return joined


def list_files(path: str = ".") -> str:
    return "\n".join(sorted(entry.name for entry in within(path).iterdir()))


def read_file(path: str) -> str:
    return within(path).read_text()


def write_file(path: str, content: str) -> str:
    within(path).write_text(content)
    return f"{len(content)} characters written"


TEXT = {"type": "string"}
TOOLS = {
    list_files: ("Lists the files in a directory of the workspace.", {"path": TEXT}, []),
    read_file: ("Reads a text file of the workspace.", {"path": TEXT}, ["path"]),
    write_file: ("Writes a text file in the workspace.", {"path": TEXT, "content": TEXT}, ["path", "content"]),
}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    tool = next((tool for tool in TOOLS if tool.__name__ == name), None)
    try:
        if tool is None:
            raise ValueError(f"there is no tool {name}")
        return {"content": [{"type": "text", "text": tool(**arguments)}]}
    except (OSError, TypeError, ValueError) as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error)}]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "workspace", "version": "1.0.0"}}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [{"name": tool.__name__, "description": text, "inputSchema":
                               {"type": "object", "properties": properties, "required": required}}
                              for tool, (text, properties, required) in TOOLS.items()]}
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

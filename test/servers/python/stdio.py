"""Speaks MCP over stdio for a server that has only tools, each with one argument."""

import json
import sys
from collections.abc import Callable
from typing import Any

Tools = dict[Callable[[Any], str], tuple[str, str, str]]
"""The tools: what each says of itself, and the name and the JSON type of its argument."""


def serve(name: str, tools: Tools) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(name, tools, message["method"], message.get("params", {}))
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


def answer(name: str, tools: Tools, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": name, "version": "1.0.0"}}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [{"name": tool.__name__, "description": text, "inputSchema":
                               {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}}
                              for tool, (text, field, kind) in tools.items()]}
        case "tools/call":
            return call(tools, params["name"], params.get("arguments", {}))
    return None


def call(tools: Tools, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        tool, field = next((tool, field) for tool, (_, field, _) in tools.items() if tool.__name__ == name)
        return {"content": [{"type": "text", "text": tool(arguments[field])}]}
    except Exception as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error)}]}

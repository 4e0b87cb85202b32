"""Speaks MCP over stdio for a server that has tools, and resources of text."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

Tools = dict[Callable[..., str], tuple[str, dict[str, Any]]]
"""The tools: the description of each, and the schemas of its arguments, all of which are required."""


def serve(name: str, tools: Tools, resources: Mapping[str, str] = {}) -> None:
    def initialize(_: Any) -> dict[str, Any]:
        capabilities = {"tools": {}, "resources": {}} if resources else {"tools": {}}
        return {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": {"name": name, "version": "1.0.0"}}

    def read(params: dict[str, Any]) -> dict[str, Any] | None:
        uri = params["uri"]
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": resources[uri]}]} if uri in resources else None

    speak({
        "initialize": initialize,
        "ping": lambda _: {},
        "tools/list": lambda _: {"tools": [{"name": tool.__name__, "description": text, "inputSchema":
                                            {"type": "object", "properties": properties, "required": list(properties)}}
                                           for tool, (text, properties) in tools.items()]},
        "tools/call": lambda params: call(tools, params["name"], params.get("arguments", {})),
        "resources/list": lambda _: {"resources": [{"uri": uri, "name": uri.split("://")[1]} for uri in resources]} if resources else None,
        "resources/read": read,
    })


def call(tools: Tools, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        tool = next((tool for tool in tools if tool.__name__ == name), None)
        if tool is None:
            raise ValueError(f"there is no tool {name}")
        return {"content": [{"type": "text", "text": tool(**arguments)}]}
    except Exception as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error)}]}


def speak(methods: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]]) -> None:
    """Answers requests until stdin ends: with what a method returns, or an error if that is None."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        method = methods.get(request["method"])
        result = method(request.get("params") or {}) if method else None
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)

"""The server that honest.py and leaky.py have in common: one tool over stdio."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool.model_validate(json.loads((Path(__file__).parent.parent / "tool.json").read_text()))


def format_note(note: str) -> str:
    """Trims the note and its lines, and sets a blank behind the number signs of headings."""
    lines = note.strip().split("\n")
    return "\n".join(re.sub(r"^(#{1,6})([^#\s])", r"\1 \2", line.rstrip()) for line in lines)


def serve(aside: Callable[[], str] = str) -> None:
    """Answers on stdin and stdout until stdin ends.

    aside, if given, runs in every call; what it returns is put behind the answer.
    """

    async def list_tools(_ctx: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[TOOL])

    async def call_tool(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        note = (params.arguments or {}).get("note")
        if params.name != TOOL.name or not isinstance(note, str):
            text = types.TextContent(type="text", text="format_note needs the argument note, a string")
            return types.CallToolResult(content=[text], is_error=True)
        more = "" if aside is str else await anyio.to_thread.run_sync(aside)
        return types.CallToolResult(content=[types.TextContent(type="text", text=format_note(note) + more)])

    async def run() -> None:
        server = Server("notes", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)

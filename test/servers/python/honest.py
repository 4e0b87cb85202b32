"""An MCP server that does what it says."""

from notes import serve

serve()

package sources

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// maxTools bounds the names of tools that are kept, by number.
const maxTools = 64

const tool = `([A-Za-z][A-Za-z0-9_.-]{1,63})`

// Patterns by which a program names the tools that it handles.
var toolNames = []*lazyregexp.Regexp{
	// "server.registerTool('x'", "@server.tool(name='x'", "new Tool('x'".
	lazyregexp.New(`(?i)tool\(\s*(?:name\s*=\s*)?["'\x60]` + tool + `["'\x60]`),
	// "case 'x':", "name == 'x'", "tool_name === 'x'".
	lazyregexp.New(`\bcase\s+["'\x60]` + tool + `["'\x60]\s*:`),
	lazyregexp.New(`(?i)\b\w*name\s*={2,3}\s*["'\x60]` + tool + `["'\x60]`),
	// "@mcp.tool()" and the decorated function.
	lazyregexp.New(`\.tool(?:\([^()\n]{0,200}\))?\s*\n\s*(?:async\s+)?def\s+` + tool + `\(`),
	// "tools['x'] = ".
	lazyregexp.New(`\[["'\x60]` + tool + `["'\x60]\]\s*=[^=]`),
	// "'x': handler", "'x': async (a) =>", "'x': lambda", "'x': (handler, schema)".
	lazyregexp.New(`["'\x60]` + tool + `["'\x60]\s*:\s*(?:async\b|function\b|lambda\b|\(|(?:\w+\.)?_?[A-Za-z]\w{2,63}\s*[,}\n])`),
	// "x_y: { description: ...", a key without quotes.
	lazyregexp.New(`(?:^|[{,\n])\s*([a-z][a-z0-9]{0,31}(?:_[a-z0-9]{1,31}){1,5})\s*:\s*(?:\{|async\b|function\b|\([\w, ]*\)\s*=>)`),
	// "{ name: 'x', description", "Tool(name='x'".
	lazyregexp.New(`["']?\bname["']?\s*[:=]\s*["'\x60]` + tool + `["'\x60]`),
}

// Tools returns possible names of tools in the text of a program without duplicates, the most likely first.
func Tools(text string) (names []string) {
	for _, pattern := range toolNames {
		for _, match := range pattern.FindAllStringSubmatch(text, 4*maxTools) {
			if len(names) < maxTools && !slices.Contains(names, match[1]) {
				names = append(names, match[1])
			}
		}
	}
	return names
}

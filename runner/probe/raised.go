package probe

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// maxRaised bounds the bytes that are kept of exceptions.
const maxRaised = 16 << 10

var (
	// inStack matches the lines of a stack trace between its head and the exception, plain or framed.
	inStack = lazyregexp.New(`^(?:\s|[│╭╰┃┏┗|+]|$)`)
	// logLine matches the first line of another record.
	logLine = lazyregexp.New(`^(?:\[?\d{2,4}[-/:]\d\d[-/: T]|\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL)\b)`)
	// at matches a frame of a stack of JavaScript.
	frame = lazyregexp.New(`^\s+at \S`)
)

// raised returns the exceptions whose stack traces a log has, without the stacks: a server that hides from its client
// why a call failed mostly logs it.
func raised(log string) string {
	var found strings.Builder
	var before string
	const (
		outside = iota
		stack
		message
	)
	state := outside
	for line := range strings.Lines(log) {
		switch {
		case strings.Contains(line, "Traceback (most recent call last)"):
			state = stack
		case state == stack && !inStack.MatchString(line):
			state = message
		case state == message && logLine.MatchString(line):
			state = outside
		case state == outside && frame.MatchString(line) && !frame.MatchString(before):
			found.WriteString(before)
		}
		if state == message {
			found.WriteString(line)
		}
		if before = line; found.Len() > maxRaised {
			break
		}
	}
	return found.String()
}

// Package terminal is what the command line has to know about where it writes to:
// whether a person reads it there, and how to keep a server's texts from being
// obeyed by it.
package terminal

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/mcpaudit/mcpaudit/runner/render"
)

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Colours reports whether colours are wanted: on a terminal, unless NO_COLOR is
// set (no-color.org).
func Colours(w io.Writer) bool {
	return Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Lines escapes a text of many lines for a terminal, line by line. What is read by
// a program goes there as it is.
func Lines(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		ended := bytes.HasSuffix(line, []byte("\n"))
		out.WriteString(render.Escape(string(bytes.TrimSuffix(line, []byte("\n")))))
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

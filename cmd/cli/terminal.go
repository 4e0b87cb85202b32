package cli

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/mcpaudit/mcpaudit/runner/render"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Colours reports whether to use colours: on a terminal, unless NO_COLOR is set (no-color.org).
func Colours(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// EscapeLines escapes each line of a text that a server influenced.
func EscapeLines(text []byte) []byte {
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

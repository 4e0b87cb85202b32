package cli

import (
	"fmt"
	"io"

	"github.com/mcpaudit/mcpaudit/runner/render"
)

// Progress shows the current step of an audit on one line of a terminal; other writers get
// nothing.
type Progress struct{ w io.Writer }

// NewProgress shows progress on w.
func NewProgress(w io.Writer) Progress {
	if !IsTerminal(w) {
		return Progress{}
	}
	return Progress{w}
}

// maxStep keeps the line from wrapping on narrow terminals, in characters.
const maxStep = 70

// Step replaces the line.
func (p Progress) Step(text string) {
	if p.w == nil {
		return
	}
	line := []rune(render.Escape(text))
	if len(line) > maxStep {
		line = append(line[:maxStep], '…')
	}
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", string(line)) // nothing depends on it
}

// Clear empties the line.
func (p Progress) Clear() {
	if p.w != nil {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K") // nothing depends on it
	}
}

package main

import (
	"fmt"
	"io"

	"github.com/mcpaudit/mcpaudit/runner/render"
)

// progress shows the step that the audit is at, on one line of a terminal that
// is written over; where stderr is no terminal it shows nothing.
type progress struct{ w io.Writer }

func newProgress(w io.Writer) progress {
	if !isTerminal(w) {
		return progress{}
	}
	return progress{w}
}

// maxStep keeps the line from wrapping on a narrow terminal, in characters.
const maxStep = 70

func (p progress) step(text string) {
	if p.w == nil {
		return
	}
	line := []rune(render.Escape(text))
	if len(line) > maxStep {
		line = append(line[:maxStep], '…')
	}
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", string(line)) // nothing depends on it
}

func (p progress) clear() {
	if p.w != nil {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K") // nothing depends on it
	}
}

package main

import (
	"errors"

	"github.com/mcpaudit/mcpaudit/runner/harden"
)

// hold is set by main: what the process is held to lasts as long as it does, and tests
// run commands in theirs.
var hold bool

// holdTracing takes from a runner that traces what it does not need.
func holdTracing() error {
	if !hold {
		return nil
	}
	return harden.Tracing()
}

// holdTalking does so for a runner whose server is elsewhere. The note says what could not
// be taken.
func holdTalking(terminationLog string) (note string, err error) {
	if !hold {
		return "", nil
	}
	note, err = harden.Files(terminationLog)
	return note, errors.Join(err, harden.Talking())
}

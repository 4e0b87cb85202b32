package main

import (
	"errors"

	"github.com/mcpaudit/mcpaudit/runner/harden"
)

// hold is set by main only: restrictions last as long as the process, and tests run commands in
// theirs.
var hold bool

// holdTracing drops what a tracing runner does not need.
func holdTracing() error {
	if !hold {
		return nil
	}
	return harden.Tracing()
}

// holdTalking drops what the runner of a remote server does not need. The note lists what could
// not be dropped.
func holdTalking(terminationLog string) (note string, err error) {
	if !hold {
		return "", nil
	}
	note, err = harden.Files(terminationLog)
	return note, errors.Join(err, harden.Talking())
}

package sandbox

import (
	"os"

	"github.com/mcpaudit/mcpaudit/runner/faketime"
)

// Library is the path of libfaketime: the server sees the machine's.
func (l *Launcher) Library() (string, error) { return faketime.Find() }

// Open opens a file of the machine.
func (l *Launcher) Open(path string) (faketime.File, error) { return os.Open(path) }

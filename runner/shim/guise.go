package shim

import (
	"fmt"
	"os"
	"path"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Guise is the memory of this process's arguments, which /proc/PID/cmdline shows to the server.
type Guise []byte

// NewGuise finds that memory, and replaces os.Args by a copy. Strings taken from os.Args before still share
// the memory.
func NewGuise() Guise {
	size := 0
	for _, arg := range os.Args {
		size += len(arg) + 1
	}
	// The kernel puts the arguments one after the other, and the runtime leaves them there.
	place := unsafe.Slice(unsafe.StringData(os.Args[0]), size)
	args := make([]string, len(os.Args))
	for i, arg := range os.Args {
		args[i] = strings.Clone(arg)
	}
	os.Args = args
	return place
}

// Pose shows another command line for this process, cut to the length of its own. Call it on the main thread,
// which gives the process its name.
func (g Guise) Pose(command string) error {
	if len(g) < 2 {
		return nil
	}
	clear(g)
	// If the last byte is not NUL, the kernel shows only the text before the first NUL (fs/proc/base.c,
	// get_mm_cmdline).
	g[len(g)-1] = '.'
	copy(g[:len(g)-2], command)
	program, _, _ := strings.Cut(command, " ")
	name := append([]byte(path.Base(program)), 0)
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
		return fmt.Errorf("change our own name: %w", err)
	}
	return nil
}

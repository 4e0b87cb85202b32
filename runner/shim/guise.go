package shim

import (
	"fmt"
	"os"
	"path"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Guise is the memory in which the arguments of this process lie, which /proc/PID/cmdline shows to the server.
type Guise []byte

// NewGuise finds that memory. The arguments in os.Args are copies from then on; copies that were made of them
// before are not.
func NewGuise() Guise {
	size := 0
	for _, arg := range os.Args {
		size += len(arg) + 1
	}
	// They lie one behind the other where the kernel has put them, and the runtime leaves them there.
	place := unsafe.Slice(unsafe.StringData(os.Args[0]), size)
	args := make([]string, len(os.Args))
	for i, arg := range os.Args {
		args[i] = strings.Clone(arg)
	}
	os.Args = args
	return place
}

// Pose has this process go by a command line, as far as that is no longer than its own was. It is called on the
// main thread, which gives the process its name.
func (g Guise) Pose(command string) error {
	if len(g) < 2 {
		return nil
	}
	clear(g)
	// With something behind the last argument, the kernel shows what is before the first NUL, and no more
	// (fs/proc/base.c, get_mm_cmdline).
	g[len(g)-1] = '.'
	copy(g[:len(g)-2], command)
	program, _, _ := strings.Cut(command, " ")
	name := append([]byte(path.Base(program)), 0)
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
		return fmt.Errorf("change our own name: %w", err)
	}
	return nil
}

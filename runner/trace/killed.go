package trace

import "golang.org/x/sys/unix"

// filterable are the calls that a seccomp filter is known to stop, with their
// numbers: the first three by the server's own filter (runner/shim, Confine),
// which kills for them, the others by those with which browsers confine
// themselves and let a handler of SIGSYS open the file.
var filterable = map[string]int64{
	"clone": unix.SYS_CLONE, "socket": unix.SYS_SOCKET, "seccomp": unix.SYS_SECCOMP,
	"openat": unix.SYS_OPENAT, "openat2": unix.SYS_OPENAT2,
}

// stopped reports whether a filter stopped the call before it was made. strace then
// sees the entry, where it looks at entries, and a "result" that is the call's
// own number, which the kernel has put back (kernel/seccomp.c, syscall_rollback).
// That is no descriptor: those are decorated.
func (c *call) stopped() bool {
	number, ok := filterable[c.name]
	return ok && !c.failed() && c.result.decor == nil && c.result.value == number
}

// killed reports whether a filter killed the process for this call. That is an
// event of its own (Forbidden), while the call itself is seen or not by how the
// tracer works.
func (c *call) killed() bool { return c.stopped() || c.result.errno == "?" }

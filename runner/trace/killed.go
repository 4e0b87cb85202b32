package trace

// stopped reports whether a filter stopped the call before it was made. strace then
// sees the entry, where it looks at entries, and a "result" that is the call's
// own number, which the kernel has put back (kernel/seccomp.c, syscall_rollback).
// That is no descriptor: those are decorated; and no child, whose pid in a PID namespace
// of its own is translated.
func (c *call) stopped() bool {
	number, ok := c.Native()
	return ok && !c.failed() && c.result.decor == nil && c.result.pid == int(number)
}

// killed reports whether a filter killed the process for this call. That is an
// event of its own (Forbidden), while the call itself is seen or not by how the
// tracer works.
func (c *call) killed() bool { return c.stopped() || c.result.errno == "?" }

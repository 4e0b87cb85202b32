package trace

// stopped reports whether a filter stopped the call before it was made. strace then
// sees the entry, if it stops at entries, and as "result" the call's own number, which
// the kernel restores (kernel/seccomp.c, syscall_rollback). It is no descriptor, which
// would be decorated, and no child, whose pid in its own PID namespace would be
// translated.
func (c *call) stopped() bool {
	number, ok := c.Native()
	return ok && !c.failed() && c.result.decor == nil && c.result.pid == int(number)
}

// killed reports whether a filter killed the process for this call. The death is a
// separate event (Forbidden); whether the call itself is seen depends on the tracer.
func (c *call) killed() bool { return c.stopped() || c.result.errno == "?" }

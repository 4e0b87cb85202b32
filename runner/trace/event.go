package trace

import (
	"net/netip"
	"time"
)

// Op is what a system call does, whichever of its many names it was called by.
type Op string

// The operations.
const (
	// OpRead: a file was opened without a write flag (open, openat, openat2,
	// open_by_handle_at). O_PATH counts: its descriptor leads, by way of
	// /proc/self/fd, to names that the tracer cannot resolve.
	OpRead Op = "read"
	// OpWrite: a file was opened for writing, created, truncated, renamed,
	// linked, removed, or had its mode, owner or attributes changed.
	OpWrite Op = "write"
	// OpExec: execve or execveat.
	OpExec Op = "exec"
	// OpConnect: connect, or a datagram that was sent, with or without an
	// address of its own. A connect of a UDP socket sends nothing: it makes no
	// event before the first datagram (libc connects UDP sockets only to sort
	// addresses), unless it was to port 53 and failed.
	OpConnect Op = "connect"
	// OpBind and OpListen: bind and listen.
	OpBind   Op = "bind"
	OpListen Op = "listen"
	// OpSend and OpReceive: bytes that went to or came from a socket; Data has
	// the beginning of them.
	OpSend    Op = "send"
	OpReceive Op = "receive"
	// OpEvade: a call that an ordinary server does not make and that could hide
	// something from the tracer: io_uring, ptrace, process_vm_*, a signal to a
	// foreign process, a seccomp filter with a listener, bpf, module loading,
	// namespaces, mounts; any call whose arguments the tracer could not read
	// (Blinded); and the end by a call that a seccomp filter kills for (Forbidden).
	OpEvade Op = "evade"
)

// Forbidden is the Syscall of the event that a process or thread was killed by
// SIGSYS: it made a call that the sandbox's seccomp filter, or one of its own,
// does not let live. Nothing came of the call, whose name is not known.
const Forbidden = "SIGSYS"

// Event is one system call of the server or of one of its descendants. Calls
// that only move the conversation on (reads of stdin, writes of stdout), that
// touch what every program touches, or that have no Op, make no event.
type Event struct {
	// Seq numbers the events of a trace from 1, in the order in which the
	// tracer saw them complete.
	Seq uint64
	// Time is the entry of the call; Duration how long it took.
	Time     time.Time
	Duration time.Duration
	PID      int
	// Main: made by the process that the server was started as. An exec there
	// replaces the server (a launcher script and its interpreter), it does not
	// add a process.
	Main bool
	// Syscall is the name of man 2, or Forbidden.
	Syscall string
	Op      Op
	// Result is the return value; meaningless when Errno is set.
	Result int64
	// Errno is the name of the error, such as "ENOENT"; "" after success; "?"
	// for a call that never returned (the process was killed in it).
	Errno string
	// Refused: the tracer failed the call on purpose, and nothing came of it.
	Refused bool
	// Blinded: an argument was a raw pointer where a string is due.
	Blinded bool
	// Path is absolute and clean: of the object that was opened, as the tracer
	// resolved it after the call where it could, else the argument joined with
	// its directory. It is relative only when that directory is unknown. A
	// process's own /proc/PID is /proc/self, a thread's is /proc/thread-self.
	//
	// Target is the new name in a rename, the existing file in a link, and what
	// is pointed at in a symlink; Path is then the old name, and the new link.
	Path   string
	Target string
	// Flags are the O_* flags of an open.
	Flags []string
	// Argv of an exec, at most 64 of at most 1024 bytes each.
	Argv []string
	// Socket is the end point of OpConnect, OpBind, OpListen, OpSend, OpReceive.
	Socket *Socket
	// Data is the beginning of the bytes of OpSend and OpReceive; Cut tells
	// that there were more.
	Data []byte
	Cut  bool
	// At is where in the conversation the call was entered. (Not where it
	// returned: a connect may time out several requests later.)
	At Position
	// Detail is the call as people read it, name to result, at most 512 bytes,
	// with the escapes of the tracer left in.
	Detail string
}

// Socket is an end point as far as the tracer knows it.
type Socket struct {
	// Family is "inet", "inet6", "unix", "netlink", "packet", "vsock", ...
	Family string
	// Protocol is "tcp", "udp", "unix", or as Family.
	Protocol string
	// Remote is set for the inet families, IPv4-mapped addresses as IPv4; the
	// zero value means unknown. Local where it is known.
	Remote netip.AddrPort
	Local  netip.AddrPort
	// Host is the name that Remote was looked up by, or the name that a
	// datagram to port 53 asks for, where that was seen. The server can forge it.
	Host string
	// Path of a unix socket; abstract names begin with "@". The context id and
	// port of a vsock, as strace prints them.
	Path string
}

// Position says how far the conversation on stdin and stdout had come, in bytes
// that the server itself had read and written, counted over all its processes
// and by pipe inode. Requests are sent one at a time, so a position names the
// request that was in flight, whatever the clocks say.
type Position struct {
	// In is the number of bytes read from the stdin pipe; Out of those written
	// to the stdout pipe.
	In, Out int64
	// EOF: the server has read the end of its stdin.
	EOF bool
}

package trace

import (
	"net/netip"
	"time"
)

// Op says what a system call does, whichever of its many names it was called by.
type Op string

// The operations.
const (
	// OpRead: a file was opened without a write flag (open, openat, openat2,
	// open_by_handle_at), or came as a descriptor over a unix socket (recvmsg).
	// Reading an open directory is no event: it was opened. O_PATH counts: its descriptor leads, by way of
	// /proc/self/fd, to names that the tracer cannot resolve.
	OpRead Op = "read"
	// OpLook: a file or directory that may hold secrets was examined without an open
	// (stat, access, readlink, getxattr, statfs, inotify_add_watch, name_to_handle_at
	// and the like), with success or without.
	OpLook Op = "look"
	// OpSeek: the same of a file in a directory of programs (bin, sbin), to find which programs exist.
	OpSeek Op = "seek"
	// OpWrite: a file was opened for writing, created (mkdir, mknod and
	// memfd_create too) or truncated.
	OpWrite Op = "write"
	// OpStore: bytes were written to an open file; Data has their beginning.
	// Writes to pipes, terminals and other devices are not included: the probe
	// has stdout and stderr.
	OpStore Op = "store"
	// OpLoad: bytes of an open file that Config.Loads selects were read, mapped, or copied in the
	// kernel.
	OpLoad Op = "load"
	// OpMap: a file was mapped shared and writable (mmap(2)). Bytes written
	// through the mapping are not seen. A mapping may be made writable later
	// (mprotect), but then its file was opened with O_RDWR, which is OpWrite.
	OpMap Op = "map"
	// OpDelete: unlink, unlinkat, rmdir.
	OpDelete Op = "delete"
	// OpRename: Path is the old name, Target the new one.
	OpRename Op = "rename"
	// OpLink: a hard or symbolic link. Path is the new name, Target the
	// existing file, or where the link points.
	OpLink Op = "link"
	// OpAttribute: mode, owner, times or extended attributes were changed.
	OpAttribute Op = "attribute"
	// OpExec: execve or execveat.
	OpExec Op = "exec"
	// OpConnect: connect, or a datagram that was sent, with or without an
	// address of its own. A connect of a UDP socket sends nothing: it makes no
	// event before the first datagram (libc connects UDP sockets only to sort
	// addresses), unless it was to port 53 and failed.
	OpConnect Op = "connect"
	// OpBind, OpListen and OpAccept: bind, listen, and accept or accept4 that
	// gave a connection. The bind of a UDP socket to a port comes when the socket
	// has received from anybody but a peer that it has sent to, or at the end of the
	// trace if it never sent to a peer that it was connected to.
	OpBind   Op = "bind"
	OpListen Op = "listen"
	OpAccept Op = "accept"
	// OpSend and OpReceive: bytes went to or came from a socket; Data has their
	// beginning.
	OpSend    Op = "send"
	OpReceive Op = "receive"
	// OpCredential: the process changed its user, its groups or its
	// capabilities. (Servers that start as root do so to drop privileges.)
	OpCredential Op = "credential"
	// OpEvade: a call that an ordinary server does not make and that could hide
	// something from the tracer: io_uring, ptrace, process_vm_*, a write to another
	// process's memory (Path is then ForeignMemory), a signal to a
	// foreign process, a seccomp filter with a listener, bpf, module loading,
	// keyrings, namespaces, mounts, sockets that see the traffic of others or
	// that are outside any network namespace; any call whose arguments the tracer could
	// not read (Blinded); and the death by a seccomp filter (Forbidden).
	OpEvade Op = "evade"
)

// Forbidden is the Syscall of the event that a process or thread was killed by
// SIGSYS: it made a call that the sandbox's seccomp filter, or one of its own,
// kills for. The call had no effect; its name is not known.
const Forbidden = "SIGSYS"

// unreturned is the Errno of a call that never returned.
const unreturned = "?"

// MaxOrigins bounds Event.Origins. Deeper descendants, started at yet other
// positions, share the oldest ones.
const MaxOrigins = 4

// Event is one system call of the server or of one of its descendants. Calls
// that only advance the conversation (reads of stdin, writes of stdout), that
// touch what every program touches, or that have no Op, make no event.
type Event struct {
	// Seq numbers the events of a trace from 1, in the order in which the
	// tracer saw them complete.
	Seq uint64
	// Time is the call's entry; Duration how long it took.
	Time     time.Time
	Duration time.Duration
	PID      int
	// Main: made by the process that the server was started as. An exec there
	// replaces the server (a launcher script and its interpreter) and adds no
	// process.
	Main bool
	// Lineage: made by a process that the main process, or one below it, has
	// started.
	Lineage bool
	// Origins has the positions of the conversation at which that process, and each
	// of its ancestors below the main process, was started: the oldest first, each
	// once, at most MaxOrigins, and none from before the first request. A process
	// that a call's worker starts belongs to that call; one that a launcher starts
	// before any request is the server. Events share it: do not change it.
	Origins []Position
	// Fed is the position at which that process, or its nearest such ancestor, last
	// read from a pipe or socket pair what another process wrote: a worker that was
	// started in one call gets its work for others this way.
	Fed Position
	// Thread is the position at which the thread was started; zero for the first one
	// of a process. It is only a hint at a call: pools reuse threads.
	Thread Position
	// Daemon: the process, or one of its ancestors below the main process, has
	// outlived its parent or called setsid.
	Daemon bool
	// Within is the outermost program around this process that the server itself started
	// after the first request, such as the shell whose pipeline it is part of: at most
	// MaxWithin bytes of its path; "" for the server itself, and for the start of that
	// program, which stands for all that it starts.
	Within string
	// Program is the path of the program that the process executed, cut to MaxWithin bytes; "" if it
	// executed none since the trace began. It is SessionLookup for all processes of such a shell.
	Program string
	// Syscall is the name of man 2, or Forbidden.
	Syscall string
	Op      Op
	// Result is the return value; meaningless when Errno is set.
	Result int64
	// Errno is the name of the error, such as "ENOENT"; "" after success; "?"
	// for a call that never returned (the process was killed in it).
	Errno string
	// Refused: the tracer failed the call on purpose; it had no effect.
	Refused bool
	// Blinded: an argument was a raw pointer in place of a string.
	Blinded bool
	// Path is absolute and clean: that of the opened object, if the tracer could
	// resolve it after the call, else the argument joined with its directory. It
	// is relative only when that directory is unknown. A
	// process's own /proc/PID is /proc/self, a thread's is /proc/thread-self.
	// A file of memfd_create is "/memfd:NAME"; a program that was run by the number
	// of a descriptor, by a process that has such files, is "/memfd:? /proc/...".
	//
	// Target is the new name, of OpRename and OpLink. Asked is the name that OpRead and OpWrite
	// were called with, if a symbolic link led from there to Path.
	Path   string
	Target string
	Asked  string
	// Running is the file that the process of OpExec was found to execute: behind all links, or the interpreter of a
	// script. It is "" where nobody looked (only a session of Attach does) or the process had ended, and a later program's
	// where it had gone on.
	Running string
	// Dir is the working directory of OpExec and OpRead, if known.
	Dir string
	// From is the file that the bytes of OpSend and OpStore came from without a
	// buffer (sendfile, splice, copy_file_range): there is no Data.
	From string
	// Flags are the O_* flags of an open.
	Flags []string
	// Argv of an exec, at most 1024 of at most 4096 bytes each; Cut: there were
	// more.
	Argv []string
	// Env of an exec: the variables ("NAME=value") that are new, or differ from
	// those of the server's start; at most 1024 of at most 4096 bytes each.
	Env []string
	// Socket is the end point of OpConnect, OpBind, OpListen, OpAccept, OpSend
	// and OpReceive.
	Socket *Socket
	// Size is the number of bytes that OpSend, OpReceive and OpStore moved, 0
	// if they failed. Data is the beginning of the bytes; Cut: there were more.
	Size int64
	Data []byte
	Cut  bool
	// Value of an OpAttribute: the new mode or times, or the name and the value of an extended attribute.
	Value string
	// At is the position at which the call was entered. (Not where it returned:
	// a connect may time out several requests later.)
	At Position
	// Detail is the call for people, from name to result, at most 512 bytes,
	// with the tracer's escapes.
	Detail string
}

// Failed reports whether the call had no effect. One that never returned may have done its work before its process was
// killed, so it is taken for one that did.
func (e Event) Failed() bool { return e.Errno != "" && e.Errno != unreturned }

// Socket is an end point as far as the tracer knows it.
type Socket struct {
	// Family is "inet", "inet6", "unix", "netlink", "packet", "vsock", ...
	Family string
	// Protocol is "tcp", "udp", "unix", or as Family.
	Protocol string
	// Remote is set for the inet families, IPv4-mapped addresses as IPv4; the
	// zero value means unknown. Local is set if known.
	Remote netip.AddrPort
	Local  netip.AddrPort
	// Host is the name that Remote was looked up by, or the name that a
	// datagram to port 53 asks for, if that was seen. The server can forge it.
	Host string
	// Path of a unix socket; abstract names begin with "@". The context id and
	// port of a vsock, as strace prints them.
	Path string
}

// Position counts the bytes of the conversation that the server had read from stdin and
// written to stdout, over all its processes, by pipe inode.
// Requests are sent one at a time, so a position identifies the request in flight,
// whatever the clocks say.
type Position struct {
	// In is the number of bytes read from the stdin pipe; Out of those written to
	// the stdout pipe.
	In, Out int64
	// EOF: the server has read the end of its stdin.
	EOF bool
}

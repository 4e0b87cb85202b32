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
	// OpLook: it was asked whether a file or directory that may hold secrets is there,
	// or what it is, and not opened (stat, access, readlink, getxattr, statfs, inotify_add_watch,
	// name_to_handle_at and their kin), with success or without.
	OpLook Op = "look"
	// OpSeek: it was asked so whether a file is in a directory of programs (bin, sbin): which programs are there.
	OpSeek Op = "seek"
	// OpWrite: a file was opened for writing, created (mkdir, mknod and
	// memfd_create too) or truncated.
	OpWrite Op = "write"
	// OpStore: bytes were written to a file that is open; Data has the beginning
	// of them. Writes to pipes, terminals and other devices are none: what goes
	// to stdout and stderr, the probe has.
	OpStore Op = "store"
	// OpLoad: bytes came out of an open file that Config.Loads tells of, by a read, a mapping, or
	// a copy in the kernel.
	OpLoad Op = "load"
	// OpMap: a file was mapped shared and writable (mmap(2)). Of the bytes that
	// go to it so, nothing is seen. A mapping may be made writable later
	// (mprotect); but then its file was opened with O_RDWR, which is OpWrite.
	OpMap Op = "map"
	// OpDelete: unlink, unlinkat, rmdir.
	OpDelete Op = "delete"
	// OpRename: Path is the old name, Target the new one.
	OpRename Op = "rename"
	// OpLink: a hard or symbolic link. Path is the new name, Target the file
	// that existed, or what is pointed at.
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
	// gave a connection.
	OpBind   Op = "bind"
	OpListen Op = "listen"
	OpAccept Op = "accept"
	// OpSend and OpReceive: bytes that went to or came from a socket; Data has
	// the beginning of them.
	OpSend    Op = "send"
	OpReceive Op = "receive"
	// OpCredential: the process changed its user, its groups or its
	// capabilities. (Servers that start as root do so to be less.)
	OpCredential Op = "credential"
	// OpEvade: a call that an ordinary server does not make and that could hide
	// something from the tracer: io_uring, ptrace, process_vm_*, a signal to a
	// foreign process, a seccomp filter with a listener, bpf, module loading,
	// keyrings, namespaces, mounts, sockets that see the traffic of others or
	// that no network namespace holds; any call whose arguments the tracer could not read
	// (Blinded); and the end by a call that a seccomp filter kills for (Forbidden).
	OpEvade Op = "evade"
)

// Forbidden is the Syscall of the event that a process or thread was killed by
// SIGSYS: it made a call that the sandbox's seccomp filter, or one of its own,
// does not let live. Nothing came of the call, whose name is not known.
const Forbidden = "SIGSYS"

// MaxOrigins bounds Event.Origins. Who is started deeper in than that, at places
// of the conversation that all differ, has the same oldest ones.
const MaxOrigins = 4

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
	// Lineage: made by a process that the main process, or one below it, has
	// started.
	Lineage bool
	// Origins are where the conversation was when that process, and each of its
	// ancestors below the main process, was started: the oldest first, each place
	// once, at most MaxOrigins of them, and none from before the first request.
	// What a worker of a call starts belongs to that call; what a launcher starts
	// before all is the server. Not to be changed: events share it.
	Origins []Position
	// Fed is where the conversation was when that process, or the nearest such
	// ancestor, had last read from a pipe or socket pair what another process wrote
	// there: a worker that was started in one call is told so what to do in others.
	Fed Position
	// Thread is where the conversation was when the thread was started; zero for
	// the first one of a process. It is no more than a hint at a call: pools use threads again.
	Thread Position
	// Daemon: the process, or one of its ancestors below the main process, has
	// outlived its parent or called setsid.
	Daemon bool
	// Within is the outermost program that the server itself has started, after the
	// first request, of those that this process runs in: the shell whose pipeline it
	// is part of. At most MaxWithin bytes of its path; "" for the server itself, and for the start of
	// that program. All that such a program starts is told by it.
	Within string
	// Program is the path of the program that the process executed, cut to MaxWithin bytes; "" if it has
	// executed none since the trace began.
	Program string
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
	// A file of memfd_create is "/memfd:NAME"; a program that was run by the number
	// of a descriptor, by a process that has such files, is "/memfd:? /proc/...".
	//
	// Target is the new name, of OpRename and OpLink. Asked is the name that OpRead and OpWrite
	// were called with, if a symbolic link led from there to Path.
	Path   string
	Target string
	Asked  string
	// Dir is the working directory of OpExec and OpRead, where it is known.
	Dir string
	// From is the file that the bytes of OpSend and OpStore came from, where no
	// buffer was between (sendfile, splice, copy_file_range): there is no Data.
	From string
	// Flags are the O_* flags of an open.
	Flags []string
	// Argv of an exec, at most 1024 of at most 4096 bytes each; Cut tells that
	// there was more.
	Argv []string
	// Env of an exec: the variables ("NAME=value") that are new or different
	// from those that the server was started with; at most 1024 of at most
	// 4096 bytes each.
	Env []string
	// Socket is the end point of OpConnect, OpBind, OpListen, OpAccept, OpSend
	// and OpReceive.
	Socket *Socket
	// Size is the number of bytes that OpSend, OpReceive and OpStore moved, 0
	// if they failed. Data is the beginning of the bytes; Cut tells that there
	// were more.
	Size int64
	Data []byte
	Cut  bool
	// Value of an OpAttribute: the new mode or times, or the name and the value of an extended attribute.
	Value string
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

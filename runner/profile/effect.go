package profile

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// separator joins arguments, which cannot hold it, into a comparable string.
const separator = "\x00"

// How many bytes of a program's arguments, and of a path, tell effects apart. A
// path may be longer, up to a directory and a name of 4 KiB each, where a
// directory lies so deep that the kernel takes no name for it.
const (
	maxArgv = 2048
	maxPath = 4096
)

// cut is the beginning of s, without holding on to the rest of it.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.Clone(s[:limit])
}

// identities are the effects of one event: none for what is no effect, several
// where a call does several things.
func identities(e trace.Event) []identity {
	id := identity{operation: e.Syscall, errno: e.Errno, refused: e.Refused, blinded: e.Blinded}
	switch e.Op {
	case trace.OpRead, trace.OpWrite, trace.OpMap, trace.OpDelete, trace.OpRename, trace.OpLink, trace.OpAttribute:
		return id.files(e)
	case trace.OpStore:
		if e.Errno != "" {
			return nil
		}
		return []identity{{kind: KindStore, path: cut(e.Path, maxPath)}} // by whichever call
	case trace.OpExec:
		id.kind, id.path, id.within = KindExec, cut(e.Path, maxPath), e.Within
		id.argv = cut(strings.Join(e.Argv, separator), maxArgv)
	case trace.OpEvade:
		id.kind, id.within = KindEvade, e.Within
	case trace.OpConnect:
		id.kind, id.within, id.detached = KindConnect, e.Within, e.Daemon
		id.endpoint(e.Socket, true)
	case trace.OpSend:
		return sent(id, e)
	case trace.OpBind:
		// A datagram socket with a port of its choice waits for datagrams; a
		// stream socket does so when it listens.
		if e.Socket == nil || e.Socket.Protocol != "udp" || e.Socket.Local.Port() == 0 {
			return nil
		}
		id.kind = KindListen
		id.endpoint(e.Socket, false)
	case trace.OpListen:
		id.kind = KindListen
		id.endpoint(e.Socket, false)
	default:
		return nil
	}
	return []identity{id}
}

// sent are the effects of bytes that were sent. The connect was an event of its
// own; only over TCP is a name asked for later than that.
func sent(id identity, e trace.Event) []identity {
	if e.Socket == nil || e.Errno != "" || e.Size == 0 {
		return nil
	}
	id.endpoint(e.Socket, true)
	bytes := identity{kind: KindSend, path: id.path, address: id.address, port: id.port, protocol: id.protocol, host: id.host}
	if e.Socket.Host == "" || e.Socket.Protocol != "tcp" || e.Socket.Remote.Port() != 53 {
		return []identity{bytes}
	}
	id.kind, id.within, id.detached = KindConnect, e.Within, e.Daemon
	return []identity{id, bytes}
}

// files are the effects of an access to a file.
func (id identity) files(e trace.Event) []identity {
	id.path = cut(e.Path, maxPath)
	other := id
	other.path = cut(e.Target, maxPath)
	if strings.HasPrefix(e.Syscall, "symlink") { // which does nothing to what it points at
		other.path = ""
	}
	id.kind = KindWrite
	switch {
	case e.Errno != "":
		id.kind, other.kind = KindAttempt, KindAttempt
	case e.Op == trace.OpRead && slices.Contains(e.Flags, "O_DIRECTORY"):
		id.kind = KindList
	case e.Op == trace.OpRead:
		id.kind = KindRead
	case e.Op == trace.OpDelete:
		id.kind = KindDelete
	case slices.Contains(e.Flags, "O_RDWR"), slices.Contains(e.Flags, "O_RDONLY"): // O_CREAT and O_APPEND go with it
		other.kind, other.path = KindRead, id.path
	case e.Op == trace.OpRename:
		other.kind = KindWrite
		moved := id
		moved.kind = KindRead // whoever opens the new name reads what was here
		return []identity{id, other, moved}
	case e.Op == trace.OpLink:
		other.kind = KindRead
	}
	if id.kind == KindWrite {
		id.opening = opening(e)
	}
	if other.kind == "" || other.path == "" {
		return []identity{id}
	}
	return []identity{id, other}
}

// opening returns the opening of Effect.
func opening(e trace.Event) string {
	switch {
	case e.Syscall == "creat" || slices.Contains(e.Flags, "O_TRUNC"):
		return "O_TRUNC"
	case slices.Contains(e.Flags, "O_APPEND"):
		return "O_APPEND"
	}
	return ""
}

// endpoint sets the address of a connection. errno values that only say that a
// connection takes its time are no failure.
func (id *identity) endpoint(s *trace.Socket, remote bool) {
	switch id.errno {
	case "EINPROGRESS", "EALREADY", "EISCONN":
		id.errno = ""
	}
	if s == nil {
		return
	}
	id.protocol, id.host = s.Protocol, s.Host
	at := s.Local
	if remote {
		at = s.Remote
	}
	if at.IsValid() {
		id.address, id.port = at.Addr().String(), int(at.Port())
		return
	}
	id.path, id.address = s.Path, s.Path
}

package profile

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// How many bytes of a program's arguments, and of a path, identify an effect. A path
// may be longer, up to a directory and a name of 4 KiB each, if the directory is
// too deep for the kernel to take its full name.
const (
	maxArgv = 2048
	maxPath = 4096
)

// cut returns the beginning of s, without keeping the rest in memory.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.Clone(s[:limit])
}

// factsOf returns the effects of one event: none, one, or several if a call does
// several things.
func factsOf(e trace.Event) []Fact {
	f := Fact{Operation: e.Syscall, Error: e.Errno, Refused: e.Refused, Blinded: e.Blinded}
	switch e.Op {
	case trace.OpRead, trace.OpWrite, trace.OpMap, trace.OpDelete, trace.OpRename, trace.OpLink, trace.OpAttribute:
		return f.files(e)
	case trace.OpLook:
		f.Kind, f.Path = KindLook, cut(e.Path, maxPath)
	case trace.OpStore:
		if e.Failed() {
			return nil
		}
		return []Fact{{Kind: KindStore, Path: cut(e.Path, maxPath), Planted: places.Planted(e.Path, e.Data)}} // by whichever call
	case trace.OpLoad:
		return []Fact{{Kind: KindLoad, Path: cut(e.Path, maxPath)}} // by whichever call
	case trace.OpExec:
		f.Kind, f.Path, f.Within = KindExec, cut(e.Path, maxPath), e.Within
		f.Argv = Argv{cut(strings.Join(e.Argv, separator), maxArgv)}
	case trace.OpEvade:
		f.Kind, f.Within, f.Path = KindEvade, e.Within, e.Path
	case trace.OpConnect:
		f.Kind, f.Within, f.Detached = KindConnect, e.Within, e.Daemon
		f.endpoint(e.Socket, true)
	case trace.OpSend:
		return sent(f, e)
	case trace.OpBind:
		// A datagram socket with a chosen port waits for datagrams; a stream
		// socket waits only when it listens.
		if e.Socket == nil || e.Socket.Protocol != "udp" || e.Socket.Local.Port() == 0 {
			return nil
		}
		f.Kind = KindListen
		f.endpoint(e.Socket, false)
	case trace.OpListen:
		f.Kind = KindListen
		f.endpoint(e.Socket, false)
	default:
		return nil
	}
	return []Fact{f}
}

// sent returns the effects of bytes that were sent. The connect was a separate
// event; only over TCP does the look-up of a name come after it.
func sent(f Fact, e trace.Event) []Fact {
	if e.Socket == nil || e.Errno != "" || e.Size == 0 {
		return nil
	}
	f.endpoint(e.Socket, true)
	bytes := Fact{Kind: KindSend, Path: f.Path, Address: f.Address, Port: f.Port, Protocol: f.Protocol, Host: f.Host}
	if e.Socket.Host == "" || e.Socket.Protocol != "tcp" || e.Socket.Remote.Port() != places.PortDNS {
		return []Fact{bytes}
	}
	f.Kind, f.Within, f.Detached = KindConnect, e.Within, e.Daemon
	return []Fact{f, bytes}
}

// ofProcess matches the public files of a process (proc(5)). Programs that list processes read
// those of each, and the processes differ in each call: all count as one effect, or such a
// server would leave no room for its other effects.
var ofProcess = lazyregexp.New(`^/proc/\d+(/(?:stat|statm|status|cmdline|comm|wchan|cgroup|loginuid|oom_score|oom_score_adj)|)$`)

// byProgram matches files whose purpose depends on the program that opens them: those about other processes
// (proc(5)), and the hosts of SSH.
var byProgram = lazyregexp.New(`^/proc/\d+/(?:environ|maps|fd)$|/\.ssh/known_hosts`)

// accessor returns the program of an access, if the purpose of the access depends on it.
func accessor(e trace.Event, name string) string {
	matters := byProgram.MatchString
	if e.Op != trace.OpRead {
		matters = func(name string) bool {
			o, _ := places.ObeyedAt(name)
			return o.Owner != ""
		}
	}
	if !matters(name) {
		return ""
	}
	return e.Program
}

// files returns the effects of an access to a file.
func (f Fact) files(e trace.Event) []Fact {
	f.Path = cut(e.Path, maxPath)
	if e.Op == trace.OpRead {
		f.Path = ofProcess.ReplaceAllString(f.Path, "/proc/PID$1")
	}
	f.Program = accessor(e, f.Path)
	other := f
	other.Path = cut(e.Target, maxPath)
	if strings.HasPrefix(e.Syscall, "symlink") {
		return symlink(f, other, e.Failed())
	}
	f.Kind = KindWrite
	switch {
	case e.Failed():
		f.Kind, other.Kind = KindAttempt, KindAttempt
	case e.Op == trace.OpRead && slices.Contains(e.Flags, "O_DIRECTORY"):
		f.Kind = KindList
	case e.Op == trace.OpRead:
		f.Kind = KindRead
	case e.Op == trace.OpDelete:
		f.Kind = KindDelete
	case slices.Contains(e.Flags, "O_RDWR"), slices.Contains(e.Flags, "O_RDONLY"): // O_CREAT and O_APPEND go with it
		other.Kind, other.Path = KindRead, f.Path
	case e.Op == trace.OpRename:
		other.Kind = KindWrite
		moved := f
		moved.Kind = KindRead // whoever opens the new name reads what was here
		return []Fact{f, other, moved}
	case e.Op == trace.OpLink:
		other.Kind = KindRead
	}
	if f.Kind == KindWrite {
		f.Opening = opening(e)
	}
	if other.Kind == "" || other.Path == "" {
		return []Fact{f}
	}
	return []Fact{f, other}
}

// symlink returns the effects of a symbolic link, which does not change its target. A program that follows
// one to a secret may not know that it leads there.
func symlink(link, target Fact, failed bool) []Fact {
	link.Kind, target.Kind = KindWrite, KindLook
	if failed {
		link.Kind = KindAttempt
	}
	if _, secret := places.Sought(target.Path); !secret || failed {
		return []Fact{link}
	}
	return []Fact{link, target}
}

// opening returns the Opening of a Fact.
func opening(e trace.Event) string {
	switch {
	case e.Syscall == "creat" || slices.Contains(e.Flags, "O_TRUNC"):
		return "O_TRUNC"
	case slices.Contains(e.Flags, "O_APPEND"):
		return "O_APPEND"
	}
	return ""
}

// endpoint sets the address of a connection. Errors that only mean that the
// connection is in progress are no failure.
func (f *Fact) endpoint(s *trace.Socket, remote bool) {
	switch f.Error {
	case "EINPROGRESS", "EALREADY", "EISCONN":
		f.Error = ""
	}
	if s == nil {
		return
	}
	f.Protocol, f.Host = s.Protocol, s.Host
	at := s.Local
	if remote {
		at = s.Remote
	}
	if at.IsValid() {
		f.Address, f.Port = at.Addr().String(), int(at.Port())
		return
	}
	f.Path, f.Address = s.Path, s.Path
}

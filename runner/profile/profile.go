// Package profile condenses the events of a trace into what the server did:
// distinct effects, each with the first call that showed it, how often it was
// seen and in which part of the session.
//
// It is pure, and records without judging: runner/rules judges. The audit feeds a
// Builder while the trace runs; the ledger, which says when the server got which
// request, comes at the end.
package profile

import (
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
)

// Kind is a kind of effect.
type Kind string

// The kinds.
const (
	// KindRead: a file was opened for reading, or made readable by another name or
	// descriptor (rename, hard link, O_PATH). KindList: the same for a directory.
	KindRead Kind = "Read"
	KindList Kind = "List"
	// KindWrite: a file was created, opened for writing, renamed, linked or
	// changed in its attributes, with success. KindDelete: it was removed.
	KindWrite  Kind = "Write"
	KindDelete Kind = "Delete"
	// KindStore: bytes were written to an open file. The open is a separate effect,
	// and may be the only one: databases are opened for writing in order to be
	// read.
	KindStore Kind = "Store"
	// KindLoad: bytes were read from a file that an attempt on the server's guards leads to. The
	// open is a separate effect, and may be the only one if the server checks where a name leads.
	KindLoad Kind = "Load"
	// KindAttempt: an access to a file failed. It shows that the server tried,
	// not that it saw anything.
	KindAttempt Kind = "Attempt"
	// KindLook: a place that may hold secrets was looked up, with success or
	// without.
	KindLook Kind = "Look"
	// KindExec: a program was started, or with an Error, failed to start.
	KindExec Kind = "Exec"
	// KindConnect: an address was connected to or sent to, with or without
	// success. KindListen: connections or datagrams were waited for.
	KindConnect Kind = "Connect"
	KindListen  Kind = "Listen"
	// KindSend: bytes went to an address, over a connection that has its own
	// KindConnect, or that the server accepted.
	KindSend Kind = "Send"
	// KindEvade: a call that could hide something from the tracer.
	KindEvade Kind = "Evade"
)

// Fact identifies an effect, wherever in the session it happens. It is comparable. The kind decides which
// fields are set.
type Fact struct {
	Kind Kind
	// Path names a file, a program, or a unix socket; absolute and clean.
	Path string
	// Operation is the system call, such as "openat" or "unlink".
	Operation string
	// Error is the errno name if it failed; "?" if it never returned. A
	// connection in progress (EINPROGRESS) has none.
	Error string
	// Argv of an exec.
	Argv Argv
	// Within is trace.Event.Within, of an exec, a connect and an evasion.
	Within string
	// Program is trace.Event.Program, for reads whose purpose depends on the program, and for changes of a program's
	// own configuration.
	Program string
	// Detached, of a connect: by a process that has left the server's session or
	// outlived its parent.
	Detached bool
	// Opening says how a file was opened for writing, if that decides about its old
	// content: "O_TRUNC" removes it, "O_APPEND" keeps it.
	Opening string
	// Planted is places.Planted of the bytes of a KindStore.
	Planted string
	// Refused: the tracer failed the call on purpose. Blinded: its arguments
	// could not be read.
	Refused, Blinded bool
	// Address, Port, Protocol and Host are those of report.Connection.
	Address  string
	Port     int
	Protocol string
	Host     string
}

// Argv has the arguments of a program. It is comparable.
type Argv struct{ joined string }

// separator joins arguments, which cannot contain it.
const separator = "\x00"

// NewArgv joins arguments.
func NewArgv(words ...string) Argv { return Argv{strings.Join(words, separator)} }

// Words returns the arguments.
func (a Argv) Words() []string {
	if a.joined == "" {
		return nil
	}
	return strings.Split(a.joined, separator)
}

// Effect is something that the server did, once or more, in one part of the session.
type Effect struct {
	Fact
	ledger.Where
	// FQDN is the host with the search domain that Host lacks: see CanonicalHost.
	FQDN string

	// Bytes counts those that KindSend sent, or KindStore wrote.
	Bytes int64
	// Count is the number of sightings; at least 1.
	Count int
	// Time, PID and Detail are those of the first such call.
	Time   time.Time
	PID    int
	Detail string
}

// Evidence returns the first call that showed the effect, and why it was attributed to the capability.
func (e Effect) Evidence() report.Evidence {
	detail := e.Detail
	if note := e.Note(); note != "" {
		note = " [" + cut(note, maxNote) + "]"
		detail = cut(detail, report.MaxDetailBytes-len(note)) + note
	}
	return report.Evidence{Time: report.At(e.Time), PID: e.PID, Syscall: e.Operation, Detail: detail, Attribution: e.Attribution}
}

// maxNote bounds the note on the attribution, in bytes: it names a capability,
// whose name the server has chosen.
const maxNote = 160

// Connection returns the end point of a KindConnect or KindListen.
func (e Effect) Connection() report.Connection {
	return report.Connection{Address: e.Address, Port: e.Port, Protocol: e.Protocol, Host: e.Host, Error: e.Error, Count: e.Count, BytesOut: e.Bytes}
}

// Profile records what the server did.
type Profile struct {
	// Effects in the order in which they were first seen.
	Effects []Effect
	// Noise counts the events that are no effects, by reason, the most frequent
	// first: see runner/noise.
	Noise []report.Noise
	// Cut counts payload bytes that are not in the trace.
	Cut Cut
	// Dropped counts events for which there was no room. Not 0: the profile is
	// incomplete.
	Dropped int
}

// Cut counts payload bytes that are not in the trace: Sent to other machines, which
// a sinkhole sees, and Here: stored or sent on this machine.
type Cut struct{ Sent, Here int64 }

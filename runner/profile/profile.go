// Package profile condenses the events of a trace into what the server did:
// distinct effects, each with the first call that showed it, how often it was
// seen and in which part of the session.
//
// It is pure, and a record, not a judgement: runner/rules judges it. The audit
// feeds a Builder while the trace runs; the ledger, which says what the server
// was asked when, comes at the end.
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
	// KindRead: a file was opened for reading, or made readable under another name or
	// descriptor (rename, hard link, O_PATH). KindList: the same of a directory.
	KindRead Kind = "Read"
	KindList Kind = "List"
	// KindWrite: a file was created, opened for writing, renamed, linked or
	// changed in its attributes, with success. KindDelete: it was removed.
	KindWrite  Kind = "Write"
	KindDelete Kind = "Delete"
	// KindStore: bytes were written to a file that was open. That it was opened is an
	// effect of its own, and may be all there is: databases are opened for writing
	// in order to be read.
	KindStore Kind = "Store"
	// KindLoad: bytes came out of a file that an attempt on the server's guards leads to. That it
	// was opened is an effect of its own, and may be all there is, of who looks where a name leads.
	KindLoad Kind = "Load"
	// KindAttempt: an access to a file failed. It says that the server looked,
	// not that it saw anything.
	KindAttempt Kind = "Attempt"
	// KindLook: it was asked whether a place that may hold secrets is there, whatever
	// the answer was.
	KindLook Kind = "Look"
	// KindExec: a program was started, or (with an Error) was to be.
	KindExec Kind = "Exec"
	// KindConnect: an address was connected to or sent to, with or without
	// success. KindListen: connections or datagrams were waited for.
	KindConnect Kind = "Connect"
	KindListen  Kind = "Listen"
	// KindSend: bytes went to an address, over a connection that has a
	// KindConnect of its own, or that the server accepted.
	KindSend Kind = "Send"
	// KindEvade: a call that could hide something from the tracer.
	KindEvade Kind = "Evade"
)

// Fact identifies an effect: two with the same Fact are the same, wherever in the session they happen. It can
// be compared. Which fields are set depends on the kind.
type Fact struct {
	Kind Kind
	// Path of a file, a program, or a unix socket; absolute and clean.
	Path string
	// Operation is the system call, such as "openat" or "unlink".
	Operation string
	// Error is the errno name when it failed; "?" when it never returned. A
	// connection that was only begun (EINPROGRESS) has none.
	Error string
	// Argv of an exec.
	Argv Argv
	// Within is trace.Event.Within, of an exec, a connect and an evasion.
	Within string
	// Program is trace.Event.Program, of an access to what another process keeps to itself.
	Program string
	// Detached: by a process that has left the server's session or outlived its
	// parent; of a connect.
	Detached bool
	// Opening is how a file was opened for writing, where that tells what becomes of
	// what it held: "O_TRUNC" when that is gone, "O_APPEND" when it stays.
	Opening string
	// Refused: the tracer failed the call on purpose. Blinded: its arguments
	// could not be read.
	Refused, Blinded bool
	// Address, Port, Protocol and Host are those of report.Connection.
	Address  string
	Port     int
	Protocol string
	Host     string
}

// Argv are the arguments of a program. They can be compared.
type Argv struct{ joined string }

// separator joins arguments, which cannot hold it.
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
	// FQDN is the host with a search domain, where Host is without: see CanonicalHost.
	FQDN string

	// Bytes is how many were sent, by KindSend, or written, by KindStore.
	Bytes int64
	// Count is how often; at least 1.
	Count int
	// Time, PID and Detail are those of the first such call.
	Time   time.Time
	PID    int
	Detail string
}

// Evidence is the first call that showed the effect, and why it was attributed to the capability.
func (e Effect) Evidence() report.Evidence {
	detail := e.Detail
	if note := e.Note(); note != "" {
		note = " [" + cut(note, maxNote) + "]"
		detail = cut(detail, report.MaxDetailBytes-len(note)) + note
	}
	return report.Evidence{Time: report.At(e.Time), PID: e.PID, Syscall: e.Operation, Detail: detail, Attribution: e.Attribution}
}

// maxNote bounds what is said about the attribution, in bytes: it names a
// capability, whose name the server has chosen.
const maxNote = 160

// Connection is the end point of a KindConnect or KindListen.
func (e Effect) Connection() report.Connection {
	return report.Connection{Address: e.Address, Port: e.Port, Protocol: e.Protocol, Host: e.Host, Error: e.Error, Count: e.Count, BytesOut: e.Bytes}
}

// Profile records what the server did.
type Profile struct {
	// Effects in the order in which they were first seen.
	Effects []Effect
	// Noise counts the events that are no effects, by the reason, the most
	// frequent first: see runner/noise.
	Noise []report.Noise
	// Cut counts what the trace does not have of payloads.
	Cut Cut
	// Dropped counts events that there was no room for. Not 0: whoever judges
	// this profile has not seen everything.
	Dropped int
}

// Cut counts bytes of payloads that are not in the trace: Sent to other machines,
// which the sinkhole sees where there is one, and Here: stored or sent on this machine.
type Cut struct{ Sent, Here int64 }

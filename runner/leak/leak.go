// Package leak finds out which planted secrets left the server, and how: it searches the data that the server sent,
// stored and logged, its answers, and the arguments of programs that it started, for the decoys.
//
// The audit feeds a Collector from the goroutines that handle the data anyway, and queries it at the end, when the
// ledger can attribute the data to calls. The package records and runner/rules judges. Everything that it holds is
// bounded, whatever the server does, and what could not be searched is counted.
package leak

import (
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
)

// Channel is the way by which a secret left.
type Channel string

// The channels. The sinkhole's are protocols in capital letters: "TCP", "UDP",
// "DNS", "HTTP", "HTTPS", "SMTP", ...
const (
	DNS        Channel = "DNS"
	UnixSocket Channel = "unix socket"
	// Answer is the conversation: results of tools, contents of resources, texts of prompts, errors, notifications.
	Answer Channel = "answer"
	// Stderr, and Stdout where that carries no answers, are logs.
	Stderr Channel = "stderr"
	Stdout Channel = "stdout"
	// Argv and Environment are those of a program that was started; of the environment
	// only what the server did not get at its own start.
	Argv        Channel = "argv"
	Environment Channel = "environment"
	// File is another file than the decoy's own.
	File Channel = "file"
)

// Network reports whether the channel leads to a network address, be it on this
// machine.
func (c Channel) Network() bool {
	switch c {
	case UnixSocket, Answer, Stderr, Stdout, Argv, Environment, File:
		return false
	}
	return true
}

// Leak is one secret that left by one way, in one part of the session.
type Leak struct {
	ledger.Where
	Decoy   decoy.ID
	Channel Channel
	// Encoding as in decoy.Match.
	Encoding string
	// Destination is "host:port", the path of a socket, file or program, or the
	// domain that a name was looked up below; "" for Answer, Stderr and Stdout.
	Destination string
	// Home: the destination is a service that the secret is for.
	Home bool
	// Refused: it was seen where every connection was refused. Unsent: the server had that secret only there, so that
	// it could go to no service.
	Refused, Unsent bool
	// named is the name that the destination's address was handed out for; "" if the
	// server had not looked it up.
	named string
	// local: the destination is on the loopback, and the sinkhole answered there.
	local bool
	// Request to the sinkhole, in one line: "POST / HTTP/1.1".
	Request string
	// Excerpt as in decoy.Match.
	Excerpt string
	// Count is the number of sightings; at least 1. Time, PID and Syscall are of the
	// first time; PID is 0 for what the runner received itself.
	Count   int
	Time    time.Time
	PID     int
	Syscall string
}

// Evidence describes the first time that it was seen.
func (l Leak) Evidence() report.Evidence {
	var b strings.Builder
	b.WriteString(string(l.Channel))
	if l.Destination != "" {
		b.WriteString(" to " + l.Destination)
	}
	if strings.Contains(l.Request, " HTTP/") {
		b.WriteString(", " + l.Request)
	}
	b.WriteString(" (" + l.Decoy.Name + ", " + l.Encoding + "): " + l.Excerpt)
	return report.Evidence{Time: report.At(l.Time), PID: l.PID, Syscall: l.Syscall, Detail: b.String(), Attribution: l.Attribution}
}

//go:build conformance

package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// describe writes an event so that it is the same in every run: what was done
// to what, and what came of it. Numbers of processes and ports are left out,
// and the server's own places have names.
func describe(e trace.Event, places *strings.Replacer) string {
	var b strings.Builder
	b.WriteString(string(e.Op))
	if e.Errno != "" && e.Syscall != trace.Forbidden {
		fmt.Fprintf(&b, "(%s)", e.Errno)
	}
	if e.Op == trace.OpEvade || e.Op == trace.OpCredential {
		b.WriteString(" " + e.Syscall)
	}
	if e.Blinded {
		b.WriteString(" blinded")
	}
	if e.Path != "" {
		b.WriteString(" " + e.Path)
	}
	if e.Target != "" {
		b.WriteString(" -> " + e.Target)
	}
	if e.Argv != nil {
		fmt.Fprintf(&b, " %q", e.Argv)
	}
	if len(e.Env) > 0 {
		fmt.Fprintf(&b, " with %q", e.Env)
	}
	if s := e.Socket; s != nil {
		b.WriteString(" " + s.Protocol)
		switch {
		case (e.Op == trace.OpBind || e.Op == trace.OpListen) && s.Local.IsValid():
			fmt.Fprintf(&b, " %s", s.Local)
		case e.Op == trace.OpBind || e.Op == trace.OpListen:
		case s.Remote.IsValid():
			fmt.Fprintf(&b, " %s", s.Remote)
		}
		if s.Path != "" {
			b.WriteString(" " + s.Path)
		}
		if s.Host != "" {
			b.WriteString(" " + s.Host)
		}
	}
	if len(e.Data) > 0 {
		fmt.Fprintf(&b, " %q", e.Data)
	}
	text := numbered.ReplaceAllString(places.Replace(b.String()), "/proc/N")
	return strings.ToValidUTF8(chosen.ReplaceAllString(text, "127.0.0.1:N"), "?")
}

// numbered are the processes, chosen the ports that the kernel chooses
// (net.ipv4.ip_local_port_range).
var (
	numbered = regexp.MustCompile(`/proc/[0-9]+`)
	chosen   = regexp.MustCompile(`127\.0\.0\.1:[3-6][0-9]{4}`)
)

// loading are the events of the loader, in programs that are not ours.
var loading = regexp.MustCompile(`^read (/etc/ld\.so\.cache|/usr/lib/[^ ]*/libc\.so\.6)$`)

// differences are the events that one run has and the other has not. Order is
// not compared: that of several processes is not the programs' to say.
func differences(want, got []string) []string {
	var all []string
	count := map[string]int{}
	for _, e := range want {
		count[e]++
	}
	for _, e := range got {
		count[e]--
	}
	for e, n := range count {
		switch {
		case n > 0:
			all = append(all, fmt.Sprintf("%s sees %d more of: %s", variants[0], n, e))
		case n < 0:
			all = append(all, fmt.Sprintf("%s sees %d fewer of: %s", variants[0], -n, e))
		}
	}
	slices.Sort(all)
	return all
}

package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// section shows what one capability did.
type section struct {
	Heading string
	Sum     string // "2 reads, 1 connect"
	Rows    []effect
	Dropped int
}

type effect struct{ Verb, What, How string }

func sectionOf(c report.CapabilityProfile) section {
	s := section{Heading: heading(c), Dropped: c.Dropped}
	s.files("read", c.Reads)
	s.files("write", c.Writes)
	s.files("delete", c.Deletes)
	s.files("failed attempt", c.Attempts)
	s.sum("exec", len(c.Execs))
	for _, e := range c.Execs {
		s.Rows = append(s.Rows, effect{"exec", e.Path + arguments(e.Argv), manner("execve", e.Error, e.Count)})
	}
	s.ends("connect", c.Connects)
	s.ends("listen", c.Listens)
	return s
}

func (s *section) sum(noun string, n int) {
	if n == 0 {
		return
	}
	if s.Sum != "" {
		s.Sum += ", "
	}
	s.Sum += count(n, noun)
}

func (s *section) files(verb string, files []report.FileAccess) {
	s.sum(verb, len(files))
	for _, f := range files {
		s.Rows = append(s.Rows, effect{verb, f.Path, manner(f.Operation, f.Error, f.Count)})
	}
}

func (s *section) ends(verb string, ends []report.Connection) {
	s.sum(verb, len(ends))
	for _, c := range ends {
		what, how := peer(c)
		s.Rows = append(s.Rows, effect{verb, what, manner(how, c.Error, c.Count)})
	}
}

// manner returns a text such as "openat ENOENT, 3 times".
func manner(how, failure string, times int) string {
	if failure != "" {
		how += " " + failure
	}
	if times > 1 {
		how += fmt.Sprintf(", %d times", times)
	}
	return how
}

// choices are the values of the flag --calls.
var choices = map[report.Calls]string{report.CallsReadOnlyHinted: "read-only-hinted", report.CallsNever: "never", report.CallsAll: "all"}

// repeat returns the command that repeats the audit, as far as the report knows.
func repeat(r report.Report) string {
	words := []string{"mcpaudit", "run"}
	if r.Server.URL != "" {
		words[1] = "connect"
	}
	flag := func(name, value string) {
		if value != "" {
			words = append(words, "--"+name, quoteShell(value))
		}
	}
	flag("seed", strconv.FormatInt(r.Probe.Seed, 10))
	if r.Probe.Rounds > 0 {
		flag("rounds", strconv.Itoa(r.Probe.Rounds))
	}
	flag("calls", choices[r.Probe.Calls])
	if r.Probe.Depth != "" && r.Server.URL == "" {
		flag("depth", strings.ToLower(string(r.Probe.Depth)))
	}
	if t := plan.ByName(r.Server.Transport); t.Listens {
		flag("transport", t.Flag)
	}
	if at := r.Server.Detected; at != nil {
		flag("port", strconv.Itoa(at.Port))
		flag("path", at.Path)
	}
	flag("fail-on", strings.ToLower(string(r.FailOn)))
	if r.Server.URL != "" {
		return strings.Join(append(words, quoteShell(r.Server.URL)), " ")
	}
	flag("network", strings.ToLower(string(r.Network)))
	if r.Server.Package == nil {
		words = append(words, "--")
	}
	for _, word := range r.Server.Command {
		words = append(words, quoteShell(word))
	}
	return strings.Join(words, " ")
}

func quoteShell(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

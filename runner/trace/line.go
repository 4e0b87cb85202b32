package trace

import (
	"bytes"
	"strconv"
	"time"
)

// lineKind is the form of a line of the trace.
type lineKind int

const (
	lineCall       lineKind = iota // name(args) = result <duration>
	lineUnfinished                 // name(args <unfinished ...>
	lineResumed                    // <... name resumed>args) = result <duration>
	lineGone                       // +++ exited with 0 +++, +++ killed by SIGKILL +++
	lineSuperseded                 // +++ superseded by execve in pid 7 +++
	lineSignal                     // --- SIGTERM {...} ---
	lineUnnamed                    // ????(..., see unnamed
)

// line is one line of the trace, its parts still as printed.
type line struct {
	pid  int
	time time.Time
	kind lineKind
	// name of the call, for the first three kinds.
	name []byte
	// rest follows "name(" or "resumed>".
	rest []byte
	// by is the thread of lineSuperseded.
	by int
	// trapped is the call for which a filter has sent the SIGSYS of lineSignal.
	trapped []byte
	// forbidden: SIGSYS has killed a task of lineGone.
	forbidden bool
	// killed: a task was killed by a signal with which the audit ends processes.
	killed bool
}

// parseLine parses a line without its newline.
func parseLine(b []byte) (l line, err error) {
	if l.pid, b, err = leadingPID(b); err != nil {
		return l, err
	}
	stamp, b, ok := bytes.Cut(b, []byte(" "))
	if !ok {
		return l, errSyntax
	}
	if l.time, err = parseTime(stamp); err != nil {
		return l, err
	}
	switch {
	case bytes.HasPrefix(b, []byte("+++ ")):
		return parseGone(l, b)
	case bytes.HasPrefix(b, []byte("--- ")):
		l.kind, l.trapped = lineSignal, trap(b[len("--- "):])
		return l, nil
	case bytes.HasPrefix(b, []byte(resumedMark)):
		return parseResumed(l, b[len(resumedMark):])
	}
	return parseCall(l, b)
}

func parseCall(l line, b []byte) (line, error) {
	n := 0
	for n < len(b) && (isWord(b[n]) || b[n] == '?') {
		n++
	}
	if n == 0 || n == len(b) || b[n] != '(' {
		return l, errSyntax
	}
	l.name, l.rest = b[:n], b[n+1:]
	if unnamed(l.name) {
		l.kind = lineUnnamed
		return l, nil
	}
	// A call that returned ends in its duration or "?", so this ending is always
	// strace's own.
	if head, ok := bytes.CutSuffix(l.rest, []byte(" "+unfinishedMark)); ok {
		l.kind, l.rest = lineUnfinished, head
	} else if head, ok := cutChanged(l.rest); ok {
		l.kind, l.rest = lineUnfinished, head
	}
	return l, nil
}

// cutChanged cuts off " <pid changed to 7 ...>": strace ends the execve of a thread
// with it if no line came before the thread became the process.
func cutChanged(b []byte) ([]byte, bool) {
	head, ok := bytes.CutSuffix(b, []byte(" ...>"))
	if !ok {
		return nil, false
	}
	digits := len(head)
	for digits > 0 && head[digits-1] >= '0' && head[digits-1] <= '9' {
		digits--
	}
	if digits == len(head) {
		return nil, false
	}
	return bytes.CutSuffix(head[:digits], []byte(" <pid changed to "))
}

// unnamed reports whether strace could not name the call: the task was killed
// while it was stopped at the entry, and its registers were gone. The kernel skips
// such a call (ptrace(2): a kill takes the task out of the stop). Another line has
// the end of the task; without it the trace counts as lost.
func unnamed(name []byte) bool { return len(bytes.Trim(name, "?")) == 0 }

// unavailableMark ends a line whose call was entered, but not decoded for the same
// reason.
const unavailableMark = "<unavailable>"

// leadingPID reads the pid, which is padded to five columns.
func leadingPID(b []byte) (pid int, rest []byte, err error) {
	end := bytes.IndexByte(b, ' ')
	if end <= 0 {
		return 0, nil, errSyntax
	}
	pid, err = strconv.Atoi(string(b[:end]))
	if err != nil || pid <= 0 {
		return 0, nil, errSyntax
	}
	return pid, bytes.TrimLeft(b[end:], " "), nil
}

// parseTime reads the seconds and microseconds of -ttt and -T.
func parseTime(b []byte) (time.Time, error) {
	seconds, micros, ok := bytes.Cut(b, []byte("."))
	if !ok || len(micros) != 6 {
		return time.Time{}, errSyntax
	}
	s, err := strconv.ParseInt(string(seconds), 10, 64)
	if err != nil {
		return time.Time{}, errSyntax
	}
	us, err := strconv.ParseUint(string(micros), 10, 32)
	if err != nil {
		return time.Time{}, errSyntax
	}
	return time.Unix(s, int64(us)*1000).UTC(), nil
}

func parseGone(l line, b []byte) (line, error) {
	l.kind = lineGone
	by, ok := bytes.CutPrefix(b, []byte("+++ superseded by execve in pid "))
	if !ok {
		l.forbidden = bytes.HasPrefix(b, []byte("+++ killed by "+Forbidden+" "))
		l.killed = bytes.HasPrefix(b, []byte("+++ killed by SIGKILL ")) || bytes.HasPrefix(b, []byte("+++ killed by SIGTERM "))
		return l, nil
	}
	l.kind, l.by = lineSuperseded, int(integer(by))
	if l.by <= 0 {
		return l, errSyntax
	}
	return l, nil
}

func parseResumed(l line, b []byte) (line, error) {
	name, rest, ok := bytes.Cut(b, []byte(" resumed>"))
	if !ok {
		return l, errSyntax
	}
	l.kind, l.name, l.rest = lineResumed, name, rest
	return l, nil
}

// returned is the result of a call.
type returned struct {
	value int64
	// errno as in Event.
	errno   string
	refused bool
	// decor is the decoration of a descriptor, without its brackets.
	decor    []byte
	pid      int
	duration time.Duration
	// printed is the result for people.
	printed []byte
}

// parseResult reads the text after a call's closing bracket, such as
// " = 3</etc/hosts> <0.000012>".
func parseResult(b []byte) (r returned, err error) {
	b, ok := bytes.CutPrefix(bytes.TrimLeft(b, " "), []byte("= "))
	if !ok {
		return r, errSyntax
	}
	r.printed = b
	end := 0
	for end < len(b) && b[end] != ' ' && b[end] != '<' {
		end++
	}
	value, tail := b[:end], b[end:]
	if end < len(b) && b[end] == '<' {
		n := decoration(tail)
		if n < 0 {
			return r, errSyntax
		}
		r.decor, tail = tail[1:n-1], tail[n:]
	}
	if open := bytes.LastIndexByte(tail, '<'); open >= 0 {
		r.duration = parseDuration(tail[open:])
		r.printed = bytes.TrimRight(b[:len(b)-len(tail)+open], " ")
	}
	r.refused = bytes.Contains(tail, []byte("(INJECTED)"))
	return r, r.setValue(value, tail)
}

func (r *returned) setValue(value, tail []byte) error {
	word := bytes.TrimLeft(tail, " ")
	n := 0
	for n < len(word) && isWord(word[n]) {
		n++
	}
	word = word[:n]
	if len(word) > 0 && word[0] == 'E' {
		r.errno = string(word)
	}
	if len(value) == 1 && value[0] == '?' {
		if r.errno == "" {
			r.errno = "?"
		}
		return nil
	}
	v, err := strconv.ParseInt(string(value), 0, 64)
	if err != nil {
		u, err := strconv.ParseUint(string(value), 0, 64) // an address
		if err != nil {
			return errSyntax
		}
		v = int64(u) //nolint:gosec // only compared
	}
	if v == -1 && r.errno == "" && bytes.HasPrefix(tail, []byte(" (errno ")) {
		r.errno = "?" // strace has no name for the number
	}
	r.value, r.pid = v, int(v)
	if bytes.Contains(tail, []byte("/* ")) {
		r.pid = translated(tail)
	}
	return nil
}

// parseDuration reads "<0.000012>"; 0 if it is not a duration.
func parseDuration(b []byte) time.Duration {
	b = bytes.Trim(b, "<> ")
	t, err := parseTime(b)
	if err != nil {
		return 0
	}
	return time.Duration(t.UnixNano())
}

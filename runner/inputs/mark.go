package inputs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Mark identifies a call: whatever the server does with a host, a path, an id or a text
// that carries the mark, it does for that call.
type Mark struct {
	Seed int64
	// Call is the number of the call, at least 0.
	Call int
	// Plain leaves the mark out of sentences, by which a server could recognize an audit.
	Plain bool
}

// Word is part of the names in arguments. The server sees another one (see DrawNames).
const Word = "marlow"

func (m Mark) label() string { return "c" + strconv.Itoa(m.Call) }

// Host returns a name below the reserved one: "c12.pages.example.net".
func (m Mark) Host() string { return m.label() + "." + Host }

// File returns the name of a file that does not exist yet, without a directory:
// "marlow-c12-note.txt".
func (m Mark) File() string { return m.ID() + "-note.txt" }

// ID returns a name or an identifier: "marlow-c12".
func (m Mark) ID() string { return Word + "-" + m.label() }

// Name returns an identifier without a hyphen: "marlow_c12".
func (m Mark) Name() string { return Word + "_" + m.label() }

// Text returns an ordinary sentence.
func (m Mark) Text() string {
	about := subjects[uint64(m.Seed)%uint64(len(subjects))]
	if m.Plain {
		return fmt.Sprintf("A short note about %s.", about)
	}
	return fmt.Sprintf("A short note about %s (%s).", about, m.ID())
}

var subjects = []string{"milk and bread", "tea and honey", "rain and wind", "paper and ink", "trains and trams"}

// UUID returns a UUID of version 4 (RFC 9562, 5.4).
func (m Mark) UUID() string {
	return fmt.Sprintf("%08x"+uuidMiddle+"%012x", uint32(m.Seed), m.Call)
}

// uuidMiddle is the part between seed and call.
const uuidMiddle = "-5d47-4a69-9b0c-"

func (m Mark) url() string { return m.urlOf("https") }

func (m Mark) urlOf(scheme string) string { return scheme + "://" + m.Host() + "/notes" }

func (m Mark) email() string { return "office@" + m.Host() }

// address returns one that RFC 5737 reserves, address6 one of RFC 3849.
func (m Mark) address() string  { return fmt.Sprintf("192.0.2.%d", 1+m.Call%254) }
func (m Mark) address6() string { return fmt.Sprintf("2001:db8::%x", 1+m.Call%0xffff) }

var marks = lazyregexp.New(`(?i)\b` + Word + `[-_]c(\d{1,9})\b|(?:^|[^a-z0-9-])c(\d{1,9})\.pages\.example\.net\b` +
	`|` + uuidMiddle + `([0-9a-f]{12})\b`)

// Marked finds the mark in a host, a path, an id or a text, and returns the call
// that it was made for. Addresses carry none: there are too few.
func Marked(text string) (call int, ok bool) {
	found := marks.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(found[1]+found[2], 10, 32)
	if found[3] != "" {
		n, err = strconv.ParseInt(found[3], 16, 32)
	}
	return int(n), err == nil
}

// Named reports whether a host, in lower case, is one of the arguments': Host, the host of a
// mark, or one below that. Any other name below Host was not made here.
func Named(host string) bool { return host == Host || marked.MatchString(host) }

var marked = lazyregexp.New(`^(?:.*\.)?c\d{1,9}\.pages\.example\.net$`)

// Marks returns the ids of marks in some bytes (see Mark.ID), each once.
func Marks(in []byte) (all []string) {
	for _, found := range ids.FindAll(in, maxMarks) {
		if id := string(found); !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// maxMarks bounds the marks that are looked for in one place.
const maxMarks = 256

var ids = lazyregexp.New(`\b` + Word + `[-_]c\d{1,9}\b`)

package probe

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// The bounds of what is kept of what the server says: of one text, of the arguments
// that it answers, and of all of them, in bytes; and so many different texts.
const (
	maxOutput    = 64 << 10
	maxArguments = 2 << 10
	maxTexts     = 4 << 20
	maxOutputs   = 4096
	// longText is the length in bytes from which on texts that differ only in digits count as one.
	longText = 2 << 10
)

// outputs collects what the server says. The session and the reader of its answers
// use it at the same time.
type outputs struct {
	mu    sync.Mutex
	list  []report.Output
	index map[[sha256.Size]byte]int
	bytes int
	// unread are the capabilities whose texts there was no room for, or for their ends.
	unread map[report.Capability]bool
	// id, of, method and arguments are of the request in flight, or the last one.
	id        int
	of        report.Capability
	method    string
	arguments inputs.Case
}

func newOutputs() *outputs {
	return &outputs{index: map[[sha256.Size]byte]int{}, unread: map[report.Capability]bool{}, of: server}
}

// begin sets the request in flight.
func (o *outputs) begin(q query, id int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.id = id
	o.of, o.method, o.arguments = q.of, q.method, q.arguments
}

// mark returns the mark of the request in flight.
func (o *outputs) mark(seed int64) inputs.Mark {
	o.mu.Lock()
	defer o.mu.Unlock()
	return inputs.Mark{Seed: seed, Call: o.id}
}

// asking returns what the request in flight is for.
func (o *outputs) asking() report.Capability {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of
}

// answered keeps the answer to a call.
func (o *outputs) answered(kind report.OutputKind, text string) {
	o.mu.Lock()
	method := o.method
	o.mu.Unlock()
	o.add(kind, method, text)
}

// add keeps a text. One that came before, of the same capability, is counted; what
// there is no room for is left out, the texts that come first being the ones that
// nobody had to provoke.
func (o *outputs) add(kind report.OutputKind, method, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tells := text
	if len(text) >= longText {
		tells = WithoutDigits(text)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{string(kind), string(o.of.Kind), o.of.Name, method, tells}, "\x00")))
	if i, known := o.index[sum]; known {
		o.list[i].Count++
		return
	}
	out := report.Output{
		Kind: kind, Capability: o.of, Method: beginning(method, maxSample), Count: 1,
		Arguments: beginning(string(o.arguments.Arguments), maxArguments), Text: beginning(text, maxOutput),
	}
	for _, origin := range o.arguments.Origins {
		out.Origins = append(out.Origins, origin.String())
	}
	size := len(out.Text) + len(out.Arguments)
	full := len(o.list) >= maxOutputs || o.bytes+size > maxTexts
	if full || len(text) > maxOutput {
		o.unread[o.of] = true
	}
	if full {
		return
	}
	o.bytes += size
	o.index[sum] = len(o.list)
	o.list = append(o.list, out)
}

// beginning is at most limit bytes of a text, in whole runes, and does not keep the rest of
// it in memory.
func beginning(text string, limit int) string {
	return strings.Clone(strings.ToValidUTF8(report.Head(text, limit), "?"))
}

// omit records that a text of the request in flight is not kept.
func (o *outputs) omit() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unread[o.of] = true
}

// left returns the capabilities whose texts were not kept to their ends, by name.
func (o *outputs) left() []report.Capability {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.SortedFunc(maps.Keys(o.unread), func(a, b report.Capability) int { return cmp.Compare(a.String(), b.String()) })
}

// all returns what was kept, what matters first: of each capability the first text
// before the second of any, and of one capability those that the server's own
// values led to before the others.
func (o *outputs) all() []report.Output {
	o.mu.Lock()
	defer o.mu.Unlock()
	type place struct{ nth, reached, came int }
	places := make([]place, len(o.list))
	seen := map[report.Capability]int{}
	for _, reached := range []bool{true, false} {
		for i, out := range o.list {
			if (len(out.Origins) > 0) == reached {
				places[i] = place{nth: seen[out.Capability], came: i}
				if !reached {
					places[i].reached = 1
				}
				seen[out.Capability]++
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.reached, b.reached), cmp.Compare(a.came, b.came))
	})
	sorted := make([]report.Output, 0, len(places))
	for _, p := range places {
		sorted = append(sorted, o.list[p.came])
	}
	return sorted
}

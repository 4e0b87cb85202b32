package audit

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// Bounds on the number of captures that are kept, of less than 20 KiB each. Questions to
// a name server have a bound of their own, for a tunnel asks very many.
const (
	maxQuestions = 256
	maxOthers    = 512
)

// caught holds what the sinkhole received in one run.
type caught struct {
	// captures has the first of each kind, in order; dropped counts the others.
	captures []sinkhole.Capture
	dropped  int
	// lost is how many bytes the sinkhole itself did not keep.
	lost int64
	// opaque counts the opaque captures; opaqueTo is the destination of the first.
	opaque   int
	opaqueTo string

	// metadata has the metadata services that were asked something, by name or address:
	// true if they were asked only which machine this is.
	metadata map[string]bool
	// versions has the registries of packages that were asked something: the request, if it was
	// only for the versions of one package, and "" otherwise.
	versions map[string]string
	// unasked has the metadata services with a connection on which nothing was asked.
	unasked map[string]bool

	questions, others int
	// last is the index of a flow's last capture, while the flow may go on.
	last map[uint64]int
}

// catch receives all captures, and shows each to look.
func catch(from <-chan sinkhole.Capture, look func(sinkhole.Capture)) caught {
	var all caught
	if from == nil {
		return all
	}
	for c := range from {
		look(c)
		all.add(c)
	}
	return all
}

func (all *caught) add(c sinkhole.Capture) {
	all.lost += c.Lost()
	if c.Opaque {
		all.opaque++
		all.opaqueTo = cmp.Or(all.opaqueTo, c.Host, c.Destination.String())
	}
	if service, identity := c.Metadata(); service != "" {
		all.metadata = alone(all.metadata, service, identity)
	}
	if host, request := c.Registry(); host != "" {
		all.versions = sole(all.versions, host, request)
	}
	if to := c.Destination.Addr().Unmap().String(); c.Size == 0 && slices.Contains(sinkhole.MetadataHosts, to) {
		if all.unasked == nil {
			all.unasked = map[string]bool{}
		}
		all.unasked[to] = true
	}
	if i, ok := all.last[c.Flow]; ok && c.Continues {
		all.captures[i].Size = c.Size // there is no more of it to show
		return
	}
	count, most := &all.others, maxOthers
	if c.Protocol == "dns" {
		count, most = &all.questions, maxQuestions
	}
	if *count >= most {
		if !all.has(c) {
			all.dropped++
		}
		return
	}
	*count++
	if all.last == nil {
		all.last = map[uint64]int{}
	}
	all.last[c.Flow] = len(all.captures)
	all.captures = append(all.captures, c)
}

// has reports whether a capture with the same bytes is kept already: a call that is repeated
// repeats what it sends.
func (all *caught) has(c sinkhole.Capture) bool {
	return slices.ContainsFunc(all.captures, func(k sinkhole.Capture) bool {
		return k.Protocol == c.Protocol && k.Host == c.Host && k.Request == c.Request && bytes.Equal(k.Data, c.Data)
	})
}

// sole notes the only request that a host got, "" once it gets another.
func sole(requests map[string]string, host, request string) map[string]string {
	if requests == nil {
		requests = map[string]string{}
	}
	if before, known := requests[host]; known && before != request {
		request = ""
	}
	requests[host] = request
	return requests
}

// alone notes whether a host was asked only one thing; it stays false once the host is asked another.
func alone(hosts map[string]bool, host string, is bool) map[string]bool {
	if hosts == nil {
		hosts = map[string]bool{}
	}
	before, known := hosts[host]
	hosts[host] = is && (before || !known)
	return hosts
}

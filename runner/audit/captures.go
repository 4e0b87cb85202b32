package audit

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// Bounds on the number of kept captures, of less than 20 KiB each. DNS queries have a bound of their own, because a
// tunnel sends many.
const (
	maxQuestions = 256
	maxOthers    = 512
)

// caught holds what the sinkhole received in one run.
type caught struct {
	// captures has the first captures of each kind, in order; dropped counts the others.
	captures []sinkhole.Capture
	dropped  int
	// lost is how many bytes the sinkhole itself did not keep.
	lost int64
	// opaque counts the captures that could not be decoded; opaqueTo is the destination of the first.
	opaque   int
	opaqueTo string

	// remote is the host of the MCP server that the server itself is a client of; "" for none.
	remote string
	// metadata has the metadata services that received a request, by name or address: true if every request only
	// identified the machine.
	metadata map[string]bool
	// versions has the package registries that received a request: the request, if all asked only for the versions of
	// one package, and "" otherwise.
	versions map[string]string
	// unasked has the metadata services with a connection but no request.
	unasked map[string]bool

	questions, others int
	// last is the index of a flow's last capture, while the flow may go on.
	last map[uint64]int
}

// catch receives all captures, with the audit's own names, and passes each to look.
func catch(from <-chan sinkhole.Capture, names *pseudonym.Names, look func(sinkhole.Capture)) caught {
	var all caught
	if from == nil {
		return all
	}
	for c := range from {
		c.Data = names.InBytes(c.Data)
		for _, text := range []*string{&c.Host, &c.Named, &c.Request} {
			*text = names.In(*text)
		}
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
	if all.remote == "" && c.MCP() {
		all.remote = cmp.Or(c.Host, c.Destination.String())
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
		all.captures[i].Size = c.Size // the rest is not shown
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

// has reports whether a capture with the same bytes is kept already, because a repeated call repeats what it sends.
func (all *caught) has(c sinkhole.Capture) bool {
	return slices.ContainsFunc(all.captures, func(k sinkhole.Capture) bool {
		return k.Protocol == c.Protocol && k.Host == c.Host && k.Hello == c.Hello && k.Request == c.Request && bytes.Equal(k.Data, c.Data)
	})
}

// sole records the only request to a host, or "" after a different one.
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

// alone records whether all requests to a host were of one kind; it stays false once one was not.
func alone(hosts map[string]bool, host string, is bool) map[string]bool {
	if hosts == nil {
		hosts = map[string]bool{}
	}
	before, known := hosts[host]
	hosts[host] = is && (before || !known)
	return hosts
}

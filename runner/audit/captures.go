package audit

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// The bounds of what is kept of the captures, by number: those of questions to a
// name server, of which a tunnel makes very many, have one of their own. One is
// less than 20 KiB.
const (
	maxQuestions = 256
	maxOthers    = 512
)

// caught holds what came to the sinkhole in one run.
type caught struct {
	// captures are the first of each kind, in order; dropped counts the others.
	captures []sinkhole.Capture
	dropped  int
	// lost is how many bytes the sinkhole itself did not keep.
	lost int64
	// opaque counts the captures that are; opaqueTo is where the first led.
	opaque   int
	opaqueTo string

	// metadata has the metadata services that were asked something, by name or address:
	// true where that was no more than which machine this is.
	metadata map[string]bool
	// versions has the registries of packages that were asked something: the request, where
	// that was which versions there are of one package, and "" where it was anything else, too.
	versions map[string]string
	// unasked are those that were connected to, and asked nothing on some connection.
	unasked map[string]bool

	questions, others int
	// last is where the last capture of a flow is, while it may go on.
	last map[uint64]int
}

// catch takes captures until there are no more, and shows each to look.
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

// has reports whether the same was sent before, and kept: a call that is made again and again
// sends it again and again.
func (all *caught) has(c sinkhole.Capture) bool {
	return slices.ContainsFunc(all.captures, func(k sinkhole.Capture) bool {
		return k.Protocol == c.Protocol && k.Host == c.Host && k.Request == c.Request && bytes.Equal(k.Data, c.Data)
	})
}

// sole notes the request that a host got, "" once it got another.
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

// alone notes whether a host was asked for one thing, and stays false once it was asked for another.
func alone(hosts map[string]bool, host string, is bool) map[string]bool {
	if hosts == nil {
		hosts = map[string]bool{}
	}
	before, known := hosts[host]
	hosts[host] = is && (before || !known)
	return hosts
}

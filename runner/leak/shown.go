package leak

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// maxShown bounds an excerpt of what was sent, in bytes.
const maxShown = 160

// Shown returns what the sinkhole received, for the report: one entry for all that was
// sent to one place in the same words during one call. Excerpts never hold a
// whole secret. Call it after Finish.
func (c *Collector) Shown(captures []sinkhole.Capture, l ledger.Ledger) []report.Capture {
	type place struct {
		address, host, protocol, request string
		port                             int
		of                               report.Capability
	}
	index, counted := map[place]int{}, map[uint64]int64{}
	var all []report.Capture
	for _, s := range captures {
		shown := report.Capture{
			Port: int(s.Destination.Port()), Host: s.Host, Protocol: s.Protocol, Request: c.redacted(s.Request), Opaque: s.Opaque,
			Capability: c.placed(s, l).Capability,
		}
		if s.Destination.Addr().IsValid() {
			shown.Address = s.Destination.Addr().String()
		}
		at := place{shown.Address, shown.Host, shown.Protocol, shown.Request, shown.Port, shown.Capability}
		i, ok := index[at]
		if !ok {
			i = len(all)
			index[at] = i
			all = append(all, shown)
		}
		if all[i].Excerpt == "" && !s.Opaque && s.Protocol != "dns" {
			all[i].Excerpt = c.excerpt(s.Data)
		}
		all[i].Bytes += s.Size - counted[s.Flow] // the parts of a flow count together
		counted[s.Flow] = s.Size
	}
	return all
}

// Place returns the part of the session in which something was sent. Call it after Finish.
func (c *Collector) Place(s sinkhole.Capture, l ledger.Ledger) ledger.Where { return c.placed(s, l) }

// placed returns the part of the session in which something was sent.
func (c *Collector) placed(s sinkhole.Capture, l ledger.Ledger) ledger.Where {
	transport := "tcp"
	if s.Protocol == "udp" {
		transport = "udp"
	}
	talk := c.sockets[newSocket(transport, s.Source, s.Destination)]
	if s.Protocol == "dns" && talk == nil {
		talk = c.sockets[newSocket("udp", s.Source, s.Destination)]
	}
	if talk == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.during(c.askedBefore(s.Time))
	}
	turn := talk.atOffset(s.Offset)
	if encrypted(s.Protocol) {
		turn = talk.atTime(s.Time)
	}
	m := turn.at.trace
	m.Time = turn.time
	return l.At(m)
}

// excerpt returns the beginning of what was sent, or if a secret is in it, the text
// before it and the secret, shortened.
func (c *Collector) excerpt(data []byte) string {
	if secret := c.secret(data); secret != "" {
		return secret
	}
	data = data[:min(len(data), maxShown)]
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < ' ' || r > '~':
			return '.'
		}
		return r
	}, string(data))
}

// redacted returns a line with its secret shortened.
func (c *Collector) redacted(text string) string { return cmp.Or(c.secret([]byte(text)), text) }

// secret returns the first secret in some bytes, shortened, with the text before it.
func (c *Collector) secret(data []byte) string {
	found, _ := c.matcher.Find(data)
	if len(found) == 0 {
		return ""
	}
	return slices.MinFunc(found, func(a, b decoy.Match) int { return cmp.Compare(a.Offset, b.Offset) }).Excerpt
}

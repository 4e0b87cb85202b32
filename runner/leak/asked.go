package leak

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// nobodys lists first words of variables that do not name a service.
var nobodys = strings.Fields("access admin api app auth base bearer client db default dev encryption login mcp my private prod secret server service session test user")

// settleAsked decides where a secret may go whose variable the server has asked for, and
// whose services are not listed. A server that asks for a key has a use for it: the key may
// go over the network to a host that the server looked up, as it is or in HTTP's Basic scheme
// (RFC 7617). If some of these hosts have the service in their name, it may go only to them.
func (c *Collector) settleAsked(leaks []Leak) {
	for _, v := range c.set.Vars {
		if !v.Asked {
			continue
		}
		is := func(l Leak) bool { return l.Decoy.Variable && l.Decoy.Name == v.Name }
		of := func(l Leak) bool {
			return !slices.Contains(nobodys, decoy.Service(v.Name)) && strings.Contains(l.named, decoy.Service(v.Name))
		}
		known := slices.ContainsFunc(leaks, func(l Leak) bool { return is(l) && of(l) })
		for i, l := range leaks {
			if is(l) {
				leaks[i].Home = c.mayGo(v, l, of(l) || !known)
			}
		}
	}
}

// mayGo reports whether a secret may go where it went. serves: the destination's name has the service, or no host's does.
func (c *Collector) mayGo(v decoy.Var, l Leak, serves bool) bool {
	plain := l.Encoding == decoy.Plain
	switch {
	case l.Channel.Network() && (l.local || len(v.Hosts) > 0):
		return l.Home // by sentToOwner
	case l.Channel.Network():
		return l.named != "" && serves && (plain || l.Encoding == decoy.Base64)
	case l.Channel == Stderr, l.Channel == Stdout:
		return l.Home || c.filed[v.Name] && plain
	case l.Channel == Answer: // "Credentials not found in /srv/VALUE"
		return l.Home || c.filed[v.Name] && plain && strings.Contains(l.Excerpt, "/"+v.Value[:min(len(v.Value), 4)])
	}
	return l.Home
}

// lookFor notes a variable that was asked for, if its value was looked for as a file.
func (c *Collector) lookFor(e trace.Event) {
	if e.Errno != "ENOENT" {
		return
	}
	for _, v := range c.set.Vars {
		if v.Asked && v.Value != "" && path.Base(e.Path) == v.Value {
			c.filed[v.Name] = true
		}
	}
}

// Filed returns the names of those variables, sorted. It is called after Finish.
func (c *Collector) Filed() []string { return slices.Sorted(maps.Keys(c.filed)) }

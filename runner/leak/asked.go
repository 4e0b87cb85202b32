package leak

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// nobodys are first words of variables that are the name of no service.
var nobodys = strings.Fields("access admin api app auth base bearer client db default dev encryption login mcp my private prod secret server service session test user")

// settleAsked decides where the secrets may go that the server has asked for by name, and
// of which nobody has listed the services. To ask for a key is to have a use for it: it may
// go over the network to whom the server looked up, as it is or as HTTP's Basic scheme has
// it (RFC 7617). When some of that have the service in their name, it may go to them alone.
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

// mayGo reports whether a secret may go where it went. serves: the destination has the name of its service, or none has.
func (c *Collector) mayGo(v decoy.Var, l Leak, serves bool) bool {
	plain := l.Encoding == decoy.Plain
	switch {
	case l.Channel.Network() && (l.local || len(v.Hosts) > 0):
		return l.Home // by sentToOwner
	case l.Channel.Network():
		return l.named != "" && serves && (plain || l.Encoding == decoy.Base64)
	case l.Channel == Stderr, l.Channel == Stdout:
		return l.Home || c.filed[v.Name] && plain
	}
	return l.Home
}

// lookFor notes which variable that was asked for has the name of a file that is not there.
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

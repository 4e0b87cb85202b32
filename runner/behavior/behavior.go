// Package behavior condenses what a server did into entries that can be compared
// between audits: the hosts that it connects to, the programs that it runs, the
// places of its files, what it listens on. It is pure; the audit calls Of once.
//
// An entry is a class, never one file or one port of many: two audits of the same
// server with the same inputs must give the same entries. So it leaves out counts,
// times, process numbers and the capability in flight, ports that the kernel chooses
// (ip(7)), names made up for a run, and the marks of the probe. It also leaves out
// failures, except those of connections and programs, which the sandbox may cause.
package behavior

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// Server has the properties of a server by which the same place has different paths.
type Server struct {
	// Home is its home directory, absolute and clean; "" if it has none.
	Home string
	// Command is its program and the arguments.
	Command []string
	// Search are the domains that the machine appends to names that it looks up.
	Search []string
}

// Of returns the behaviour in a profile; incomplete: the audit did not see everything.
func Of(p profile.Profile, s Server, incomplete bool) report.Behavior {
	c := condenser{layout: s.layout(p), names: map[string]bool{}}
	for _, e := range p.Canonical(s.Search).Effects {
		if !s.started(e) {
			c.effect(e)
		}
	}
	for name := range c.names {
		if !slices.Contains(c.hosts, name) {
			c.entries = append(c.entries, "resolve "+maskGeneratedHost(name))
		}
	}
	return report.BehaviorOf(c.entries, incomplete)
}

// started reports whether an effect is only the start of the server: a program that its
// command names.
func (s Server) started(e profile.Effect) bool {
	return e.Kind == profile.KindExec && e.Phase == report.PhaseStartup && slices.ContainsFunc(s.Command, func(arg string) bool {
		return path.Base(arg) == path.Base(e.Path)
	})
}

// condenser makes the entries. names has the names that were looked up; false for those
// that were connected to as well.
type condenser struct {
	layout
	entries []string
	names   map[string]bool
	hosts   []string
}

func (c *condenser) add(verb, what string) { c.entries = append(c.entries, verb+" "+what) }

func (c *condenser) effect(e profile.Effect) {
	switch e.Kind {
	case profile.KindRead:
		c.add("read", c.class(e.Path, false))
	case profile.KindList:
		c.add("read", c.class(e.Path, true))
	case profile.KindWrite:
		c.add("write", c.class(e.Path, strings.HasPrefix(e.Operation, "mkdir")))
	case profile.KindDelete:
		c.add("delete", c.class(e.Path, e.Operation == "rmdir"))
	case profile.KindExec:
		c.add("execute", c.program(e.Path))
	case profile.KindConnect:
		c.connect(e)
	case profile.KindListen:
		c.listen(e)
	}
}

func (c *condenser) connect(e profile.Effect) {
	switch {
	case e.Protocol == "unix":
		c.add("connect", "unix "+c.file(e.Address))
	case e.Protocol == "netlink", inputs.Named(e.Host):
	case e.Port == places.PortDNS && e.Host != "":
		if strings.Contains(e.Host, ".") && !strings.HasSuffix(e.Host, ".arpa") {
			c.names[e.Host] = true
		}
	case e.Port == places.PortDNS && e.Protocol == "udp" && !strings.HasPrefix(e.Operation, "send"): // the beginning of a look-up
	default:
		c.reach(e)
	}
}

// reach adds a connection to a machine.
func (c *condenser) reach(e profile.Effect) {
	address, err := netip.ParseAddr(e.Address)
	switch {
	case err == nil && (address.Unmap().IsLoopback() || address.IsUnspecified()):
		c.add("connect", ported("localhost", e.Port))
	case e.Host != "":
		c.hosts = append(c.hosts, e.Host)
		c.add("connect", maskGeneratedHost(e.Host)+":"+strconv.Itoa(e.Port))
	case err == nil && sinkhole.Fake.Contains(address):
		c.add("connect", "a name:"+strconv.Itoa(e.Port)) // the name was not seen
	case err == nil:
		c.add("connect", netip.AddrPortFrom(address, uint16(e.Port)).String())
	}
}

// maskGeneratedHost is disguise for a host; the domain itself is nobody's to make up for a
// run, for it has to be registered.
func maskGeneratedHost(host string) string {
	labels := strings.Split(host, ".")
	own := max(0, len(labels)-2)
	if own == 0 {
		return host
	}
	return maskGenerated(strings.Join(labels[:own], "."), ".") + "." + strings.Join(labels[own:], ".")
}

func (c *condenser) listen(e profile.Effect) {
	address, err := netip.ParseAddr(e.Address)
	switch {
	case e.Protocol == "unix":
		c.add("listen", "unix "+c.file(e.Address))
	case err != nil:
		c.add("listen", e.Protocol)
	case address.Unmap().IsLoopback():
		c.add("listen", e.Protocol+" "+ported("localhost", e.Port))
	case address.IsUnspecified():
		c.add("listen", e.Protocol+" "+ported("*", e.Port))
	default:
		c.add("listen", e.Protocol+" "+ported("an address", e.Port)) // of this machine
	}
}

// ported returns a host with its port, unless the kernel chose the port.
func ported(host string, port int) string {
	if port == 0 || port >= places.FirstEphemeral {
		return host
	}
	return host + ":" + strconv.Itoa(port)
}

// runtimes matches interpreters with a version after the name.
var runtimes = lazyregexp.New(`^(python|pypy|perl|ruby|node|php|lua|java|pip)[-0-9.]+$`)

// program returns a program's name, with its place unless that is a usual one.
func (c *condenser) program(file string) string {
	base := maskGenerated(path.Base(file), "")
	if runtime := runtimes.FindStringSubmatch(base); runtime != nil {
		base = runtime[1]
	}
	if dir := path.Base(path.Dir(file)); dir == "bin" || dir == "sbin" || dir == ".bin" {
		return base
	}
	return c.class(path.Dir(file), true) + base
}

package trace

import (
	"bytes"
	"net/netip"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// sendTo makes the events of a send: every message of a datagram socket, and
// any that carries its own address, is a connection too.
func (d *decoder) sendTo(c *call, decor []byte) {
	if c.result.errno == "EAGAIN" {
		return // it will be sent again
	}
	for _, m := range messages(c) {
		d.deliver(c, decor, m)
	}
}

func (d *decoder) deliver(c *call, decor []byte, m message) {
	e := d.lookup(decor)
	if e.Protocol == "tcp" && !hasFlag(c.kind(syscalls.MessageFlags), "MSG_FASTOPEN") {
		m.address = nil // the kernel does not look at it
	}
	if m.address != nil {
		e.addressed(m.address, true)
		d.announce(e.Remote)
	}
	d.deliverTo(c, decor, m, e)
	if e.stated.IsValid() {
		e.Remote = e.stated
		d.deliverTo(c, decor, m, e)
	}
}

func (d *decoder) deliverTo(c *call, decor []byte, m message, e endpoint) {
	if e.Family == "netlink" || e.Family == "unix" && e.Path == "" {
		return // the kernel, a socket pair, or the end that accepted
	}
	if m.blinded && c.result.value > 0 {
		d.blind(c)
	}
	d.sentFrom(e)
	hosts := d.hosts(c, decor, e, m)
	e.Host = hosts[0]
	s := d.named(e)
	if e.datagram || m.address != nil {
		d.emit(c, Event{Op: OpConnect, Socket: s})
	} else {
		d.meet(c, decor, e)
	}
	d.emit(c, Event{Op: OpSend, Socket: s, Size: m.size, Data: m.data, Cut: m.cut, From: m.from})
	for _, host := range hosts[1:] {
		e.Host = host
		d.emit(c, Event{Op: OpConnect, Socket: d.named(e)})
	}
}

// hosts returns the names that a message asks a name server for, or one "" if
// there are none.
func (d *decoder) hosts(c *call, decor []byte, e endpoint, m message) []string {
	var all []string
	if nameService(e.Remote.Port()) {
		for _, message := range d.datagrams(c, decor, e, m) {
			for _, name := range queried(message) {
				if !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

func (d *decoder) receiveFrom(c *call, decor []byte) {
	e := d.lookup(decor)
	if e.Family != "inet" && e.Family != "inet6" {
		return
	}
	d.meet(c, decor, e)
	for _, m := range messages(c) {
		if m.address != nil {
			e.addressed(m.address, true)
		}
		d.receivedAt(e)
		if nameService(e.Remote.Port()) || e.datagram && !e.Remote.IsValid() {
			for _, message := range d.datagrams(c, decor, e, m) {
				for _, a := range answers(message) {
					d.names.put(a.address, a.name)
				}
			}
		}
		d.emit(c, Event{Op: OpReceive, Socket: d.named(e), Size: m.size, Data: m.data, Cut: m.cut})
	}
}

// announce notes that an event names an address. A connection to the unspecified
// one goes to the machine itself.
func (d *decoder) announce(a netip.AddrPort) {
	if a.Addr().IsUnspecified() {
		d.announced.put(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port()), struct{}{})
		a = netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
	}
	if a.IsValid() {
		d.announced.put(a, struct{}{})
	}
}

// meet makes the event of a connection that no call was seen to make: its socket
// came from elsewhere, or another thread changed the address after the tracer had
// read it and before the kernel did. The address that the descriptor was connected
// to shows that, or, for a socket from elsewhere, the addresses of all connects.
func (d *decoder) meet(c *call, decor []byte, e endpoint) {
	if e.met || e.Protocol != "tcp" || !e.Remote.IsValid() {
		return
	}
	e.met = true
	d.know(decor, e)
	if asked, ok := d.asked.get(c.handleOf(decor)); ok && !asked.Addr().IsUnspecified() {
		if asked == e.Remote {
			return
		}
	} else if _, ok := d.announced.get(e.Remote); ok {
		return
	}
	d.emit(c, Event{Op: OpConnect, Socket: d.named(e)})
}

// handleOf returns the descriptor of a call that has the decoration.
func (c *call) handleOf(decor []byte) handle {
	for _, a := range c.args {
		if number, with := descriptor(a); bytes.Equal(with, decor) {
			return handle{c.task.process.pid, int(number)}
		}
	}
	return handle{}
}

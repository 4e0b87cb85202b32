package sinkhole

import (
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"strings"
	"sync"
)

// Fake contains the addresses of all names but those of well-known hosts (owned). Guards against requests to private and
// reserved networks take it for public, and nobody can rent a host there: it belongs to the
// United States' Department of Defense (IANA IPv4 Address Space Registry; ADR 37).
var Fake = netip.MustParsePrefix("28.0.0.0/8")

// maxNames bounds the remembered names. A DNS tunnel that looks up more still gets
// addresses, which map back to no name.
const maxNames = 16384

// mostTries bounds how many taken addresses are skipped before another range is used.
const mostTries = 32

// names maps names to addresses by hash, the same in every run unless two collide.
type names struct {
	mu        sync.Mutex
	addresses map[string]netip.Addr
	held      map[netip.Addr]string
	// tried are the unlikely names that were looked up before.
	tried map[string]bool
	// lookups counts the look-ups of names that change their address.
	lookups map[string]int
}

func newNames() *names {
	return &names{addresses: map[string]netip.Addr{}, held: map[netip.Addr]string{}, tried: map[string]bool{}, lookups: map[string]int{}}
}

// unregistered reports whether an unlikely name does not exist yet: it does from the
// second look-up of its address on. A server that makes up names to find out whether it
// is watched asks once; one that means the name asks again, and shows what it sends there.
func (n *names) unregistered(name string, address bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tried[name] || len(n.tried) >= maxNames {
		return false
	}
	if address {
		n.tried[name] = true
	}
	return true
}

// looked counts a look-up of a name and returns their number.
func (n *names) looked(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lookups) >= maxNames {
		return 1
	}
	n.lookups[name]++
	return n.lookups[name]
}

// address returns the address of a name, whatever its case.
func (n *names) address(name string) netip.Addr {
	name = strings.ToLower(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if a, ok := n.addresses[name]; ok {
		return a
	}
	within := rangeOf(name)
	a := hashed(name, within)
	if len(n.addresses) >= maxNames {
		return a
	}
	tries := 0
	for _, taken := n.held[a]; taken; _, taken = n.held[a] {
		if tries++; tries == mostTries && within != Fake { // a small range is full: a tunnel of names
			within = Fake
			a = hashed(name, within)
			continue
		}
		a = following(a, within)
	}
	n.addresses[name], n.held[a] = a, name
	return a
}

// name returns the name that an address was given to; "" if none.
func (n *names) name(a netip.Addr) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held[a]
}

// hashed returns an address in a range by the hash of a name. The last byte is neither 0
// nor 255, which some programs take for network addresses.
func hashed(name string, within netip.Prefix) netip.Addr {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	base := within.Addr().As4()
	host := h.Sum32() >> within.Bits()
	if low := host & 0xff; low == 0 || low == 255 {
		host ^= 0x55
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(base[:])|host)))
}

package sandbox

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path"
	"strconv"

	"github.com/vishvananda/netlink"

	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// A server could recognize the sandbox by its network and its small pids: both look as on a machine in use. The
// sandbox does not depend on it: what the kernel does not support is left out.

// The interface that goes nowhere, which looks like a laptop's wireless card, and what its default route names as the
// gateway. The hardware addresses are of makers that exist.
const (
	ownInterface    = "wlp2s0"
	ownHardware     = "3c:58:c2:4a:91:d7"
	ownAddress      = "192.168.1.34/24"
	gateway         = "192.168.1.1"
	gatewayHardware = "44:4e:6d:a2:0f:13"
)

// addInterface gives a closed network namespace an interface, and a default route to it. Nothing takes that
// route: the routes that close the namespace come first.
func addInterface() error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = ownInterface
	card := attrs
	card.HardwareAddr = hardwareAddress(ownHardware) // a bridge with an address of its own is not up
	var link netlink.Link
	for _, kind := range []netlink.Link{&netlink.Dummy{LinkAttrs: card}, &netlink.Ifb{LinkAttrs: card}, &netlink.Bridge{LinkAttrs: attrs}} {
		if netlink.LinkAdd(kind) == nil {
			link = kind
			break
		}
	}
	if link == nil {
		return nil // a kernel without such interfaces
	}
	address, err := netlink.ParseAddr(ownAddress)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, address); err != nil {
		return fmt.Errorf("give %s an address: %w", attrs.Name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring %s up: %w", attrs.Name, err)
	}
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Gw: net.ParseIP(gateway), Flags: int(netlink.FLAG_ONLINK)}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("route to %s: %w", attrs.Name, err)
	}
	// The table of neighbors (ARP) is only for show: a kernel may refuse it.
	_ = netlink.NeighSet(&netlink.Neigh{LinkIndex: link.Attrs().Index, Family: netlink.FAMILY_V4, State: netlink.NUD_STALE,
		IP: net.ParseIP(gateway), HardwareAddr: hardwareAddress(gatewayHardware)})
	sinkhole.Separate() // what is sent to a neighbor of the interface is answered, too
	return sinkhole.Verify()
}

func hardwareAddress(text string) net.HardwareAddr {
	address, err := net.ParseMAC(text)
	if err != nil {
		panic(err) // a constant of ours
	}
	return address
}

// The server's pids begin between these: as if the machine had been up for some time.
const leastPID, mostPID = 1500, 28000

// skipPIDs sets the pid of the next process in the namespace to one as on a machine in use. proc is where its
// /proc is mounted.
func skipPIDs(proc string) {
	last := leastPID + rand.IntN(mostPID-leastPID) //nolint:gosec // it has to be unlike the last one, no more
	// An older kernel requires more rights than we have: pids are small there.
	_ = os.WriteFile(path.Join(proc, "sys/kernel/ns_last_pid"), []byte(strconv.Itoa(last)), 0)
}

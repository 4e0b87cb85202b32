package sinkhole_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// inside names the part of a test that runs in a network namespace of its own.
const inside = "SINKHOLE_TEST_INSIDE"

// steps are the parts, by name.
var steps = map[string]func() error{
	"closed": checkClosed, "subnet": checkSubnet, "open": checkOpen, "twice": checkTwice,
	"web": checkWeb, "rpc": checkRPC, "refused": checkRefused, "raw": checkRaw, "fallback": checkFallback, "programs": checkPrograms,
	"mail": checkMail, "databases": checkDatabases, "names": checkNames, "proxy": checkProxy, "answers": checkAnswers,
	"streams": checkStreams, "neighbours": checkNeighbours,
	"flood": checkFlood, "huge": checkHuge, "endless": checkEndless, "garbage": checkGarbage,
}

func TestMain(m *testing.M) {
	step, ok := steps[os.Getenv(inside)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := step(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestInside(t *testing.T) {
	for step := range steps {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), inside+"="+step)
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// checkSubnet: a namespace with an interface, as a Pod has, is closed for its own subnet and for sockets that are bound to
// the interface, too.
func checkSubnet() error {
	const pod, partner = "pod0", "10.244.1.9:7"
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: pod}, PeerName: "pod1"}
	address, err := netlink.ParseAddr("10.244.1.5/24")
	if err != nil {
		return err
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return err
	}
	peer, err := netlink.LinkByName("pod1")
	if err != nil {
		return err
	}
	route := &netlink.Route{LinkIndex: veth.Attrs().Index, Gw: net.IPv4(10, 244, 1, 1)}
	if err := errors.Join(netlink.AddrAdd(veth, address), netlink.LinkSetUp(veth), netlink.LinkSetUp(peer), netlink.RouteAdd(route), sinkhole.Close()); err != nil {
		return err
	}
	if _, err := net.Dial("tcp", partner); !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("dial %s: want connection refused, got: %w", partner, err)
	}
	bound := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		controlled := raw.Control(func(fd uintptr) { err = syscall.BindToDevice(int(fd), pod) })
		return errors.Join(controlled, err)
	}}
	for _, to := range []string{partner, "93.184.216.34:80"} {
		if conn, err := bound.Dial("udp", to); err == nil {
			_, err = conn.Write([]byte("out"))
			return fmt.Errorf("a socket that is bound to %s reaches %s: %w", pod, to, err)
		}
	}
	if err := netlink.LinkSetUp(veth); err != nil { // as the command line adds one that leads nowhere
		return err
	}
	sinkhole.Separate()
	if _, err := net.Dial("tcp", partner); !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("dial %s by an interface that was added: want connection refused, got: %w", partner, err)
	}
	return nil
}

// checkClosed: TCP is refused at once, UDP gets "port unreachable", and what the
// server listens on itself still works.
func checkClosed() error {
	if err := sinkhole.Close(); err != nil {
		return err
	}
	for _, address := range []string{"93.184.216.34:80", "169.254.169.254:80", "[2606:2800:220:1::1]:443", "10.96.0.1:443"} {
		if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			return fmt.Errorf("dial tcp %s: want connection refused, got: %w", address, err)
		}
	}
	conn, err := net.Dial("udp", "8.8.8.8:53")
	if err != nil {
		return err
	}
	if _, err := conn.Write([]byte("question")); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("read from 8.8.8.8:53: want port unreachable, got: %w", err)
	}
	return checkLoopback()
}

func checkLoopback() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return fmt.Errorf("dial what the server itself listens on: %w", err)
	}
	return conn.Close()
}

// checkOpen: an open namespace is seen as one.
func checkOpen() error {
	if err := sinkhole.Verify(); err == nil {
		return errors.New("an open namespace passed as closed")
	} else if !strings.Contains(err.Error(), "IPv4") {
		return err
	}
	return nil
}

func checkTwice() error {
	return errors.Join(sinkhole.Close(), sinkhole.Close())
}

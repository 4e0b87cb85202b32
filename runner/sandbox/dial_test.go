package sandbox

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// stage is the other end of a dialer.
func stage(t *testing.T) (dialer, *net.UnixConn) {
	t.Helper()
	ours, theirs, err := socketpair(unix.SOCK_SEQPACKET)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.FileConn(theirs)
	if err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	other, ok := conn.(*net.UnixConn)
	if !ok {
		t.Fatalf("it is a %T", conn)
	}
	t.Cleanup(func() { _, _ = ours.Close(), other.Close() })
	return dialer{ours}, other
}

func address(t *testing.T, l net.Listener) netip.AddrPort {
	t.Helper()
	return netip.MustParseAddrPort(l.Addr().String())
}

// TestDial: what is dialled is the listener, and the end is known that it sees.
func TestDial(t *testing.T) {
	d, other := stage(t)
	go serveDials(other)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for range 3 {
		conn, err := d.dial(t.Context(), address(t, l))
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if theirs.RemoteAddr().String() != conn.LocalAddr().String() {
			t.Errorf("it is seen as %v, and is %v", theirs.RemoteAddr(), conn.LocalAddr())
		}
		if _, err := io.WriteString(theirs, "hello"); err != nil {
			t.Error(err)
		}
		_ = theirs.Close()
		if said, err := io.ReadAll(conn); err != nil || string(said) != "hello" {
			t.Errorf("it said %q, %v", said, err)
		}
		_ = conn.Close()
	}
}

func TestDialFails(t *testing.T) {
	d, other := stage(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.dial(ctx, netip.MustParseAddrPort("127.0.0.1:1")); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody answers: %v", err)
	}
	go serveDials(other)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if _, err := d.dial(t.Context(), address(t, l)); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody listens: %v", err)
	}
	_ = other.Close()
	if _, err := d.dial(t.Context(), address(t, l)); err == nil {
		t.Error("the stage is gone, and nobody says so")
	}
}

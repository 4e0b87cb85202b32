package shim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Accept waits on the unix socket path for the shim of the server's container. It
// takes one connection and unlinks the socket before the server can run, so nothing
// can connect later. The peer must not run under our own uid, or the server could
// signal the tracer.
func Accept(ctx context.Context, path string) (*Link, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listen for the shim: %w", err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for the shim: %w", err)
	}
	defer func() { _ = listener.Close() }()       // unlinks the socket; closed twice at most
	if err := os.Chmod(path, 0o666); err != nil { // connecting needs the write bit, for any uid
		return nil, fmt.Errorf("listen for the shim: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() }) // ends AcceptUnix
	defer stop()
	conn, err := listener.AcceptUnix()
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("wait for the server's container: %w", err)
	}
	peer, err := credentials(conn)
	if err == nil && int(peer.Uid) == os.Getuid() {
		err = fmt.Errorf("the server runs as uid %d, which is the runner's own: choose another (securityContext.runAsUser)", peer.Uid)
	}
	if err != nil {
		_ = conn.Close() // the error says more
		return nil, err
	}
	link := NewLink(conn)
	link.peer = int(peer.Pid)
	return link, nil
}

// credentials returns the peer's credentials from the kernel (unix(7), SO_PEERCRED).
func credentials(conn *net.UnixConn) (*unix.Ucred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("ask who connected: %w", err)
	}
	var peer *unix.Ucred
	var optErr error
	if err := raw.Control(func(fd uintptr) {
		peer, optErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return nil, fmt.Errorf("ask who connected: %w", err)
	}
	if optErr != nil {
		return nil, fmt.Errorf("ask who connected: %w", optErr)
	}
	return peer, nil
}

// Serve is the shim's main function: it connects to the runner's socket and serves
// it with gated runs of self, called with args. It returns the exit code.
func Serve(ctx context.Context, socket, self string, args []string) (int, error) {
	// Orphans of the server become our children (prctl(2)), and the server, which may
	// have our uid, can neither trace us nor reach the connection by /proc/PID/fd.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return ExitOrphaned, fmt.Errorf("become the subreaper: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return ExitOrphaned, fmt.Errorf("close our own /proc: %w", err)
	}
	conn, err := Dial(ctx, socket)
	if err != nil {
		return ExitOrphaned, err
	}
	return Supervise(conn, gated(self, args)), nil
}

// Dial connects the shim to the runner, which may still be starting: it retries
// until ctx is done.
func Dial(ctx context.Context, path string) (*net.UnixConn, error) {
	const pause = 20 * time.Millisecond
	for {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to the runner at %s: %w", path, err)
		case <-time.After(pause):
		}
	}
}

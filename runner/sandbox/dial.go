package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dialTimeout bounds how long the outer stage waits for a server that does not
// accept: its queue is full then (listen(2)).
const dialTimeout = 10 * time.Second

// maxAddress bounds what is said about a connection, in bytes: an address, or in
// words why there is none.
const maxAddress = 512

// dialer makes connections to the server, whose network namespace is not ours: the
// outer stage, which is in it, makes them and passes them on. Each is asked for with
// the end of a socket pair, on which the answer comes.
type dialer struct{ conn *net.UnixConn }

// dial connects to an address of the server's network namespace.
func (d dialer) dial(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	ours, theirs, err := socketpair(unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, err
	}
	defer func() { _ = ours.Close() }() // closed twice at most
	_, _, err = d.conn.WriteMsgUnix([]byte(at.String()), unix.UnixRights(int(theirs.Fd())), nil)
	_ = theirs.Close() // the stage has it, if it could be sent
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox for a connection to %s: %w", at, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ours.Close() }) // ends the wait
	defer stop()
	said, file, err := receiveFile(ours)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err == nil && file == nil:
		err = errors.New(said)
	}
	if file != nil {
		defer func() { _ = file.Close() }() // the connection has a copy
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s in the sandbox: %w", at, err)
	}
	return net.FileConn(file)
}

// serveDials makes the connections that a dialer asks for, until that is gone.
func serveDials(conn *net.UnixConn) {
	for {
		address, reply, err := receiveFile(conn)
		if err != nil {
			return
		}
		if reply != nil {
			go connect(address, reply)
		}
	}
}

// connect makes one connection and passes it on.
func connect(address string, reply *os.File) {
	defer func() { _ = reply.Close() }() // all is said
	file, err := connected(address)
	if err != nil {
		_ = unix.Sendmsg(int(reply.Fd()), []byte(err.Error()), nil, nil, unix.MSG_NOSIGNAL)
		return
	}
	defer func() { _ = file.Close() }() // the other has a copy
	_ = unix.Sendmsg(int(reply.Fd()), []byte(address), unix.UnixRights(int(file.Fd())), nil, unix.MSG_NOSIGNAL)
}

func connected(address string) (*os.File, error) {
	conn, err := net.DialTimeout("tcp", address, dialTimeout)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // the file is a copy
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("connect to %s: it is a %T", address, conn)
	}
	return tcp.File()
}

// receiveFile reads one packet, and the descriptor that came with it, which is
// close-on-exec; nil where none did.
func receiveFile(conn *net.UnixConn) (text string, file *os.File, err error) {
	body, oob := make([]byte, maxAddress), make([]byte, syscall.CmsgSpace(4))
	n, oobn, _, _, err := conn.ReadMsgUnix(body, oob)
	if err != nil {
		return "", nil, err
	}
	if n == 0 && oobn == 0 {
		return "", nil, net.ErrClosed
	}
	controls, err := syscall.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(controls) == 0 {
		return string(body[:n]), nil, err
	}
	fds, err := syscall.ParseUnixRights(&controls[0])
	if err != nil || len(fds) == 0 {
		return string(body[:n]), nil, err
	}
	return string(body[:n]), os.NewFile(uintptr(fds[0]), "passed"), nil
}

package attribution

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// pipes talk over stdin and stdout, a line each way.
type pipes struct {
	stdin  *os.File
	stdout *bufio.Reader
	counts
}

// counts are the bytes of a conversation, and the ledger of it.
type counts struct {
	sent, received int64
	exchanges      ledger.Ledger
}

func (c *counts) ledger() ledger.Ledger { return c.exchanges }

// enter is called before a request is sent, with its size.
func (c *counts) enter(of report.Capability, size int) {
	c.exchanges = append(c.exchanges, ledger.Exchange{
		Phase: report.PhaseCall, Capability: of, Method: "tools/call", SentStart: c.sent, SentEnd: c.sent + int64(size)})
	c.sent += int64(size)
}

// answered is called when a response has come, with the size of all of them.
func (c *counts) answered() { c.exchanges[len(c.exchanges)-1].Received = c.received }

func overPipes(t *testing.T, cmd *exec.Cmd, cfg *trace.Config) *pipes {
	t.Helper()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _, _ = inRead.Close(), inWrite.Close(), outRead.Close(), outWrite.Close() })
	cmd.Stdin, cmd.Stdout = inRead, outWrite
	cfg.Stdin, cfg.Stdout = inode(t, inRead), inode(t, outWrite)
	return &pipes{stdin: inWrite, stdout: bufio.NewReader(outRead)}
}

func inode(t *testing.T, f *os.File) uint64 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Ino
}

func (p *pipes) connect(*testing.T, *trace.Session) {}

func (p *pipes) call(t *testing.T, of report.Capability) {
	t.Helper()
	p.enter(of, len(of.Name)+1)
	if _, err := io.WriteString(p.stdin, of.Name+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.received += int64(len(line))
	p.answered()
}

// port of the server, in a network namespace where nobody else is.
const port = 8080

// alone moves the test into a network namespace of its own: this thread, all that
// is started from it, and the connections that it makes.
func alone(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // for good: the thread ends with the test's goroutine
	if err := unix.Unshare(unix.CLONE_NEWNET); errors.Is(err, unix.EPERM) {
		t.Skip("only root can make a network namespace")
	} else if err != nil {
		t.Fatalf("make a network namespace: %v", err)
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("bring the loopback up: %v: %s", err, out)
	}
}

// overHTTP makes each request on a connection of its own, and claims it.
type overHTTP struct {
	dir     string
	session *trace.Session
	counts
}

func (c *overHTTP) connect(t *testing.T, s *trace.Session) {
	t.Helper()
	await(t, c.dir, "ready")
	c.session = s
}

func (c *overHTTP) call(t *testing.T, of report.Capability) {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(poll.Patience)); err != nil {
		t.Fatal(err)
	}
	c.session.Claim(netip.MustParseAddrPort(conn.LocalAddr().String()), port)
	request := fmt.Sprintf("POST / HTTP/1.1\r\nHost: server\r\nContent-Length: %d\r\n\r\n%s", len(of.Name), of.Name)
	c.enter(of, len(request))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	counted := &counter{from: conn, n: &c.received}
	response, err := http.ReadResponse(bufio.NewReader(counted), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != of.Name+" is done" {
		t.Fatalf("answered %q, %v", body, err)
	}
	_ = response.Body.Close()
	c.answered()
}

// counter counts what is read.
type counter struct {
	from io.Reader
	n    *int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	*c.n += int64(n)
	return n, err
}

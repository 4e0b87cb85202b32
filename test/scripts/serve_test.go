package scripts

import (
	"fmt"
	"net"
	"os/exec"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serve SERVER TRANSPORT starts a server outside of any sandbox, as one that runs
// elsewhere, waits until it listens, and sets URL to where.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	port := freePort(ts)
	cmd := exec.Command(ts.Getenv("BIN")+"/"+args[0], args[1])
	cmd.Env = []string{fmt.Sprintf("PORT=%d", port)}
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := fmt.Sprintf("localhost:%d", port)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(end) {
			ts.Fatalf("%s does not listen: %v", args[0], err)
		}
	}
	ts.Setenv("URL", "http://"+address)
}

func freePort(ts *testscript.TestScript) int {
	l, err := net.Listen("tcp", "localhost:0")
	ts.Check(err)
	defer func() { _ = l.Close() }() // for the server to have it
	a, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		ts.Fatalf("listening on %v", l.Addr())
	}
	return a.Port
}

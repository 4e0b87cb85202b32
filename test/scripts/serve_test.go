package scripts

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpaudit/mcpaudit/test/poll"
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
	if !poll.For(poll.Patience, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}) {
		ts.Fatalf("%s does not listen", args[0])
	}
	ts.Setenv("URL", "http://"+address)
}

// freePort returns a port below those that the kernel gives to whoever asks for any (ip(7),
// ip_local_port_range), so that nobody gets it by chance before the server listens.
func freePort(ts *testscript.TestScript) int {
	for range 100 {
		port := 20000 + rand.IntN(12000)
		if l, err := net.Listen("tcp", fmt.Sprintf(":%d", port)); err == nil {
			ts.Check(l.Close()) // for the server to have it
			return port
		}
	}
	ts.Fatalf("no port is free")
	return 0
}

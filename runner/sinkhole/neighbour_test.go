package sinkhole_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// checkNeighbours: where the server found nobody on the loopback, it is answered from then on,
// and where somebody listens, those are.
func checkNeighbours() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	own, err := net.Listen("tcp", "127.0.0.1:8123")
	if err != nil {
		return err
	}
	const service = "127.0.0.1:11434"
	if _, err := net.Dial("tcp", service); !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("before: %w", err)
	}
	missed := []netip.AddrPort{
		netip.MustParseAddrPort(service), netip.MustParseAddrPort(service), netip.MustParseAddrPort(own.Addr().String()),
		netip.MustParseAddrPort("10.0.0.1:11435"), // is redirected anyhow
	}
	h.server.Call(sinkhole.Call{Ended: true, Missed: missed})
	client := &http.Client{Timeout: 20 * time.Second}
	reply, err := client.Post("http://"+service+"/api/generate", "application/json", strings.NewReader(`{"model":"note"}`))
	if err != nil {
		return err
	}
	if body, err := io.ReadAll(reply.Body); err != nil || !strings.Contains(string(body), "note") {
		return fmt.Errorf("answered %q, %w", body, err)
	}
	if _, err := net.Dial("tcp", own.Addr().String()); err != nil {
		return err
	}
	if conn, err := own.Accept(); err != nil || conn.Close() != nil {
		return fmt.Errorf("what the server listens on itself: %w", err)
	}
	if err := h.checkAll(want{protocol: "http", destination: service, request: "POST /api/generate HTTP/1.1", data: `{"model":"note"}`}); err != nil {
		return err
	}
	h.server.Call(sinkhole.Call{Missed: missed[3:]}) // of a server that has ended: nothing is opened
	return nil
}

package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// process is a server in its box; it implements audit.Process.
type process struct {
	shim.Traced
	box *box
}

// Dial connects to an address in the box.
func (p *process) Dial(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	return p.box.dialer.dial(ctx, at)
}

// Captures returns those of the box's sinkhole.
func (p *process) Captures() <-chan sinkhole.Capture { return p.box.captures }

// Call tells the sinkhole of the box about a call.
func (p *process) Call(c sinkhole.Call) { p.box.call(c) }

// Stop kills the server's tree and takes the box down. Stdout and stderr can be
// read to their ends afterwards.
func (p *process) Stop(ctx context.Context) {
	_ = p.box.link.Stop(ctx) // what is left dies with the box
	p.Lasting.End()
	p.box.end()
}

// OutOfMemory reports whether the kernel ended a process of the run because its memory
// had run out. It is known after Stop.
func (p *process) OutOfMemory() bool { return p.box.starved }

// Withheld returns why the server cannot have a file that whoever runs the audit can read, and
// what to do about it; "" if it can, or nobody could.
func (p *process) Withheld(path string) string {
	info, err := os.Stat(path)
	if p.box.image || err != nil || unix.Access(path, unix.R_OK) != nil || places.WithinAny(path, []string{"/proc", "/sys", "/dev"}) {
		return "" // the sandbox mounts the kernel's files itself
	}
	dir := path
	if !info.IsDir() {
		dir = filepath.Dir(path)
	}
	switch {
	case p.box.view.hides(path):
		return fmt.Sprintf("the sandbox does not show %s: run mcpaudit in %s, or name the file in the server's command", path, dir)
	case p.box.view.isForeign(path):
		return fmt.Sprintf("the server has no right to read %s, which only its owner has: run mcpaudit in %s, or let everybody read it (chmod o+r)", path, dir)
	}
	return ""
}

// Notes returns what the sandbox could not do fully.
func (p *process) Notes() []string {
	notes := append(p.Run.Notes(), p.box.limits.unbounded...)
	for line := range strings.Lines(p.box.said.String()) {
		if note, ok := strings.CutPrefix(strings.TrimSpace(line), notePrefix); ok {
			notes = append(notes, note)
		}
	}
	return notes
}

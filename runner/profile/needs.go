package profile

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/syscalls"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// maxDirectories bounds the directories that a Needs remembers.
const maxDirectories = 1024

// Needs collects what a policy for the server has to allow, from events that the
// profile does not keep: it drops noise, but a cache that a runtime writes still has
// to be writable. The zero value is empty.
type Needs struct {
	// created has the directories that the server made, written those in which it
	// changed something.
	created, written map[string]bool
	lacks            map[string]bool
	dropped          int
}

// Add adds one event.
func (n *Needs) Add(e trace.Event) {
	if lack := lacks(e); lack != "" {
		put(&n.lacks, lack)
	}
	if e.Errno != "" {
		return
	}
	switch e.Op {
	case trace.OpWrite:
		if strings.HasPrefix(e.Syscall, "mkdir") {
			n.create(e.Path)
			return
		}
		n.write(e.Path)
	case trace.OpDelete:
		delete(n.created, e.Path)
		delete(n.written, e.Path)
		n.write(e.Path)
	case trace.OpRename:
		n.rename(e.Path, e.Target)
	case trace.OpLink, trace.OpAttribute:
		n.write(e.Path)
	}
}

// rename notes that a directory was moved. The new name does not count as made by the
// server.
func (n *Needs) rename(from, to string) {
	delete(n.created, from)
	n.write(from)
	n.write(to)
}

func (n *Needs) create(dir string) {
	if !lasting(dir) || n.full() {
		return
	}
	put(&n.created, dir)
	put(&n.written, dir)
}

func (n *Needs) write(name string) {
	if !lasting(name) || n.full() {
		return
	}
	put(&n.written, path.Dir(name))
}

func (n *Needs) full() bool {
	if len(n.created)+len(n.written) < maxDirectories {
		return false
	}
	n.dropped++
	return true
}

func put(set *map[string]bool, name string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
}

// lasting reports whether a name is on the root file system: not in memory, not on
// the file systems that every container has, and not in /tmp, which every policy
// makes writable.
func lasting(name string) bool {
	if !path.IsAbs(name) {
		return false // the audit counts what it could not place (trace.Stats)
	}
	return !places.WithinAny(name, []string{"/tmp", "/dev", "/proc", "/sys"}) && !strings.HasPrefix(name, "/memfd:")
}

// Join adds the needs of another run.
func (n *Needs) Join(other Needs) {
	for into, from := range map[*map[string]bool]map[string]bool{&n.created: other.created, &n.written: other.written, &n.lacks: other.lacks} {
		for name := range from {
			put(into, name)
		}
	}
	n.dropped += other.dropped
}

// Writes returns the directories, each as the uppermost that the server made itself,
// sorted, and how many were dropped for lack of room.
func (n *Needs) Writes() (all []report.WrittenDirectory, dropped int) {
	found := map[string]bool{}
	for dir := range n.written {
		place, created := dir, n.created[dir]
		for up := path.Dir(dir); up != "/"; up = path.Dir(up) {
			if n.created[up] {
				place, created = up, true
			}
		}
		found[place] = created
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		all = append(all, report.WrittenDirectory{Path: dir, Created: found[dir]})
	}
	return all, n.dropped
}

// Capabilities returns the capabilities whose lack made calls fail, sorted.
func (n *Needs) Capabilities() []string { return slices.Sorted(maps.Keys(n.lacks)) }

// lacks returns the capability whose lack made a call fail; "" for none.
func lacks(e trace.Event) string {
	if e.Op == trace.OpBind && e.Errno == "EACCES" && e.Socket != nil && e.Socket.Local.Port() < 1024 {
		return "CAP_NET_BIND_SERVICE"
	}
	if e.Errno != "EPERM" {
		return ""
	}
	return syscalls.Find(e.Syscall).Capability
}

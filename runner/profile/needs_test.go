package profile_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

func mkdir(path string) trace.Event {
	return trace.Event{Op: trace.OpWrite, Syscall: "mkdir", Path: path}
}

func TestNeedsDirectories(t *testing.T) {
	type dirs = []report.WrittenDirectory
	remove := func(path string) trace.Event {
		return trace.Event{Op: trace.OpDelete, Syscall: "unlink", Path: path}
	}
	for name, tc := range map[string]struct {
		events []trace.Event
		want   dirs
	}{
		"a file":                        {[]trace.Event{write("/srv/data/x")}, dirs{{Path: "/srv/data"}}},
		"a file that it only read":      {[]trace.Event{read("/srv/data/x")}, nil},
		"a failed write":                {[]trace.Event{failed("EROFS", write("/srv/x"))}, nil},
		"what every container has":      {[]trace.Event{write("/tmp/x"), write("/dev/shm/x"), write("/proc/self/comm"), mkdir("/tmp/y")}, nil},
		"below a directory of its own":  {[]trace.Event{mkdir("/data"), mkdir("/data/a"), write("/data/a/x")}, dirs{{Path: "/data", Created: true}}},
		"beside a directory of its own": {[]trace.Event{mkdir("/srv/cache"), write("/srv/x")}, dirs{{Path: "/srv"}, {Path: "/srv/cache", Created: true}}},
		"a directory that it removed":   {[]trace.Event{mkdir("/srv/t"), remove("/srv/t")}, dirs{{Path: "/srv"}}},
		"a rename":                      {[]trace.Event{{Op: trace.OpRename, Syscall: "rename", Path: "/a/x", Target: "/b/y"}}, dirs{{Path: "/a"}, {Path: "/b"}}},
		"a cache that is noise":         {[]trace.Event{write("/usr/lib/python3/__pycache__/x.pyc")}, dirs{{Path: "/usr/lib/python3/__pycache__"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var n profile.Needs
			for _, e := range tc.events {
				n.Add(e)
			}
			got, dropped := n.Writes()
			if diff := cmp.Diff(tc.want, got); diff != "" || dropped != 0 {
				t.Errorf("dropped %d, directories (-want +got):\n%s", dropped, diff)
			}
		})
	}
}

// TestNeedsJoin: a restart finds what the last start made.
func TestNeedsJoin(t *testing.T) {
	var first, second, all profile.Needs
	first.Add(mkdir("/data"))
	second.Add(failed("EEXIST", mkdir("/data")))
	second.Add(write("/data/x"))
	all.Join(first)
	all.Join(second)
	got, _ := all.Writes()
	if diff := cmp.Diff([]report.WrittenDirectory{{Path: "/data", Created: true}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNeedsAreBounded(t *testing.T) {
	var n profile.Needs
	for i := range 10_000 {
		n.Add(write(fmt.Sprintf("/srv/%d/x", i)))
	}
	got, dropped := n.Writes()
	if len(got)+dropped != 10_000 || dropped == 0 {
		t.Errorf("%d directories, and %d dropped", len(got), dropped)
	}
}

func TestNeedsCapabilities(t *testing.T) {
	low := trace.Event{Op: trace.OpBind, Syscall: "bind", Socket: &trace.Socket{Protocol: "tcp", Local: netip.MustParseAddrPort("0.0.0.0:80")}}
	// The tracer refuses it as the kernel would without the capability.
	refused := trace.Event{Op: trace.OpEvade, Syscall: "bpf", Errno: "EPERM", Refused: true}
	var n profile.Needs
	for _, e := range []trace.Event{
		failed("EACCES", low), failed("EPERM", trace.Event{Op: trace.OpAttribute, Syscall: "chown"}),
		failed("EPERM", trace.Event{Op: trace.OpEvade, Syscall: "mount"}), failed("ENOENT", trace.Event{Op: trace.OpAttribute, Syscall: "chmod"}), refused,
	} {
		n.Add(e)
	}
	if diff := cmp.Diff([]string{"CAP_BPF", "CAP_CHOWN", "CAP_NET_BIND_SERVICE", "CAP_SYS_ADMIN"}, n.Capabilities()); diff != "" {
		t.Error(diff)
	}
}

package trace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/test/golden"
)

// decode runs a whole trace through a decoder.
func decode(cfg Config, lines []byte) ([]Event, Stats) {
	var events []Event
	d := newDecoder(cfg, func(e Event) { events = append(events, e) })
	for line := range bytes.Lines(lines) {
		d.feed(bytes.TrimSuffix(line, []byte("\n")))
	}
	d.close()
	return events, d.stats
}

// render returns an event in one line, without the parts that differ from run to run.
func render(e Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", e.PID, e.Op, e.Syscall)
	if e.Errno != "" {
		fmt.Fprintf(&b, " error=%s", e.Errno)
	}
	for _, mark := range []struct {
		word string
		set  bool
	}{{"refused", e.Refused}, {"blinded", e.Blinded}, {"main", e.Main}, {"daemon", e.Daemon}} {
		if mark.set {
			b.WriteString(" " + mark.word)
		}
	}
	if e.Path != "" || e.Target != "" {
		fmt.Fprintf(&b, " path=%q", e.Path)
	}
	if e.Target != "" {
		fmt.Fprintf(&b, " target=%q", e.Target)
	}
	if len(e.Flags) > 0 {
		fmt.Fprintf(&b, " flags=%s", strings.Join(e.Flags, "|"))
	}
	if len(e.Argv) > 0 {
		fmt.Fprintf(&b, " argv=%q", e.Argv)
	}
	if len(e.Env) > 0 {
		fmt.Fprintf(&b, " env=%q", e.Env)
	}
	if s := e.Socket; s != nil {
		fmt.Fprintf(&b, " %s/%s", s.Family, s.Protocol)
		if s.Local.IsValid() {
			fmt.Fprintf(&b, " local=%s", s.Local)
		}
		if s.Remote.IsValid() {
			fmt.Fprintf(&b, " remote=%s", s.Remote)
		}
		if s.Host != "" {
			fmt.Fprintf(&b, " host=%s", s.Host)
		}
		if s.Path != "" {
			fmt.Fprintf(&b, " socket=%q", s.Path)
		}
	}
	if len(e.Data) > 0 {
		fmt.Fprintf(&b, " data[%d]=%.32q", len(e.Data), e.Data)
	}
	if e.Cut {
		fmt.Fprintf(&b, " cut of %d", e.Size)
	}
	if e.From != "" {
		fmt.Fprintf(&b, " from=%q", e.From)
	}
	if e.Lineage {
		var oldest Position
		if len(e.Origins) > 0 {
			oldest = e.Origins[0]
		}
		fmt.Fprintf(&b, " origin=%d/%d", oldest.In, oldest.Out)
	}
	fmt.Fprintf(&b, " at=%d/%d", e.At.In, e.At.Out)
	if e.At.EOF {
		b.WriteString("/EOF")
	}
	return b.String()
}

// TestGolden decodes the traces of testdata/README.md.
func TestGolden(t *testing.T) {
	for name, cfg := range map[string]Config{
		"names":       {},
		"sockets":     {},
		"procs":       {},
		"kinds":       {},
		"conv":        {Stdin: 178376, Stdout: 178377},
		"go":          {Stdin: 176072, Stdout: 176073},
		"node":        {Stdin: 176099, Stdout: 176100},
		"dns-glibc":   {},
		"dns-outside": {},
		"dns-cares":   {},
		"dns-go":      {},
		"dns-python":  {},
		"pidns":       {Shim: "/usr/bin/unshare"},
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := os.ReadFile(filepath.Join("testdata", name+".strace"))
			if err != nil {
				t.Fatal(err)
			}
			events, stats := decode(cfg, lines)
			var got strings.Builder
			for i, e := range events {
				if e.Seq != uint64(i+1) {
					t.Errorf("event %d has number %d", i+1, e.Seq)
				}
				if e.Time.IsZero() || e.Detail == "" {
					t.Errorf("event %d has no time or detail", i+1)
				}
				fmt.Fprintln(&got, render(e))
			}
			for name, field := range reflect.ValueOf(stats).Fields() {
				if !field.IsZero() {
					fmt.Fprintf(&got, "%s: %v\n", name.Name, field)
				}
			}
			golden.Compare(t, filepath.Join("testdata", name+".events"), got.String())
		})
	}
}

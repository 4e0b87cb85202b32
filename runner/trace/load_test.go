package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLoad: reading bytes of a file is an event only if Config.Loads selects it.
func TestLoad(t *testing.T) {
	lines := []string{
		`5 2.000000 read(3</srv/a>, "x", 8192) = 1 <0.000001>`,
		`5 2.000001 read(4</out/a>, "x", 8192) = 1 <0.000001>`,
		`5 2.000002 read(4</out/a>, "", 8192) = 0 <0.000001>`,
		`5 2.000003 pread64(4</out/b>, 0x1, 8192, 0) = -1 EISDIR (Is a directory) <0.000001>`,
		`5 2.000004 mmap(NULL, 24, PROT_READ, MAP_PRIVATE, 5</out/c>, 0) = 0x7f0000000000 <0.000001>`,
		`5 2.000005 sendfile(1<pipe:[1]>, 6</out/d>, NULL, 24) = 24 <0.000001>`,
	}
	for want, loads := range map[string]func(string) bool{
		"":                     nil,
		"/out/a /out/c /out/d": func(name string) bool { return strings.HasPrefix(name, "/out/") },
	} {
		var got []string
		events, _ := decode(Config{Loads: loads}, []byte(begin+"\n"+strings.Join(lines, "\n")+"\n"))
		for _, e := range events {
			if e.Op == OpLoad {
				got = append(got, e.Path)
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Error(diff)
		}
	}
}

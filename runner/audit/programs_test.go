package audit

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// disk has files by name.
type disk map[string]string

func (d disk) Open(path string) (File, error) {
	if content, ok := d[path]; ok {
		return memory{bytes.NewReader([]byte(content))}, nil
	}
	return nil, os.ErrNotExist
}

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func TestS16Interpreters(t *testing.T) {
	files := disk{"/app/run": "#!/opt/bin/wrap -x\n", "/opt/bin/wrap": "#! /bin/sh\n", "/loop": "#!/loop\n", "/text": "hello", "/bad": "#!\n"}
	for program, want := range map[string]string{"/app/run": "/opt/bin/wrap /bin/sh", "/text": "", "/bad": "", "/nowhere/at/all": "", "/loop": "/loop /loop /loop /loop"} {
		if got := strings.Join(interpretersOf(files, program), " "); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}

// FuzzInterpreters: no file makes it fail.
func FuzzInterpreters(f *testing.F) {
	f.Add("#!/bin/sh\n")
	f.Add("\x7fELF\x02\x01\x01")
	f.Fuzz(func(_ *testing.T, content string) { interpretersOf(disk{"/p": content}, "/p") })
}

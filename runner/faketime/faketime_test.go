package faketime_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/faketime"
)

// disk has programs by name, and this machine's besides.
type disk map[string]string

func (d disk) Open(path string) (faketime.File, error) {
	if content, ok := d[path]; ok {
		return memory{bytes.NewReader([]byte(content))}, nil
	}
	return os.Open(path)
}

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func TestUnaffected(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := disk{"/script": "#! /bin/sh -e\n", "/loop": "#!/loop\n", "/empty": "", "/text": "hello", "/bad": "#!\n", "/cut": "\x7fELF\x02\x01\x01"}
	for program, want := range map[string]string{
		"/bin/sh": "", "/script": "",
		"/loop": "of scripts", "/empty": "no program", "/text": "no program", "/bad": "without an interpreter", "/cut": "no program",
		"/nowhere/at/all": "looked at",
	} {
		got := faketime.Unaffected(files, program)
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s %q, want %q", program, got, want)
		}
	}
	if got := faketime.Unaffected(files, self); got == "" {
		t.Error("Go does not ask the C library")
	}
}

// TestEnv: a program of the C library sees a later year, now and then.
func TestEnv(t *testing.T) {
	library, err := faketime.Find()
	if err != nil {
		t.Fatalf("%v: hack/install.sh brings it", err)
	}
	date := func(env []string) string {
		cmd := exec.Command("date", "+%s")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	if now, later := date(nil), date(faketime.Env(library)); len(now) != len(later) || now >= later {
		t.Errorf("it is %s, and later %s", now, later)
	}
}

func TestOwns(t *testing.T) {
	for path, want := range map[string]bool{
		"/dev/shm/faketime_shm_12": true, "/dev/shm/sem.faketime_sem_12": true, "/dev/shm/sem.a1B2c3": true,
		"/dev/shm/faketime_shm_12x": false, "/dev/shm/other": false, "/tmp/faketime_shm_12": false,
	} {
		if got := faketime.Owns(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// FuzzUnaffected: no file makes it fail.
func FuzzUnaffected(f *testing.F) {
	f.Add("#!/bin/sh\n")
	f.Add("\x7fELF\x02\x01\x01")
	f.Fuzz(func(_ *testing.T, content string) { faketime.Unaffected(disk{"/p": content}, "/p") })
}

func TestS16Interpreters(t *testing.T) {
	files := disk{"/app/run": "#!/opt/bin/wrap -x\n", "/opt/bin/wrap": "#! /bin/sh\n", "/loop": "#!/loop\n", "/text": "hello"}
	for program, want := range map[string]string{"/app/run": "/opt/bin/wrap /bin/sh", "/text": "", "/nowhere/at/all": "", "/loop": "/loop /loop /loop /loop"} {
		if got := strings.Join(faketime.Interpreters(files, program), " "); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}

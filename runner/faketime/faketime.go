// Package faketime sets a program's clock forward by libfaketime, a library that
// is preloaded (ld.so(8), LD_PRELOAD) and answers in place of the C library. It
// knows where the library lies, what tells it what to do, and which programs go by
// the true time all the same: they do not ask the C library, or ask another one.
package faketime

import (
	"bufio"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Name is the file name of the library: the build for programs with threads.
const Name = "libfaketimeMT.so.1"

// Forward is how far the clock is set forward, in days: farther than a month, and
// than any trial period of one. The sinkhole's certificates hold as long.
const Forward = "+45d"

// Fast is how many times faster the clock of a program goes for which a day goes by in
// seconds, in three of them.
const Fast = "+0d x30000"

// places are where distributions install it: Debian and its like, Alpine, Fedora.
var places = []string{"/usr/lib/*/faketime/", "/usr/lib/faketime/", "/usr/lib64/faketime/", "/usr/local/lib/faketime/"}

// ErrMissing says that the library is not there.
var ErrMissing = errors.New("libfaketime is not installed")

// Find is the path of the library on this machine.
func Find() (string, error) {
	for _, place := range places {
		if found, err := filepath.Glob(place + Name); err == nil && len(found) > 0 {
			return found[0], nil
		}
	}
	return "", ErrMissing
}

// Env returns what sets the clock of a program forward, and of those that it starts.
// Timers go on as they are, and so do the times of files.
func Env(library string) []string {
	return append(env(library, Forward), "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1")
}

// FastEnv returns what makes the clock of a program, and of those that it starts, go Fast,
// with their timers. The times of files stay as they are.
func FastEnv(library string) []string { return env(library, Fast) }

func env(library, clock string) []string {
	return []string{"LD_PRELOAD=" + library, "FAKETIME=" + clock, "NO_FAKE_STAT=1", "FAKETIME_NO_CACHE=1"}
}

// own are the files by which the library shares the time of its start between
// processes (shm_overview(7), sem_overview(7)).
var own = regexp.MustCompile(`^/dev/shm/(faketime_shm_[0-9]+|sem\.faketime_sem_[0-9]+|sem\.[A-Za-z0-9]{6})$`)

// Owns reports whether a file is the library's.
func Owns(path string) bool { return own.MatchString(path) }

// Files of a server.
type Files interface {
	// Open opens a file as the server names it, to read at most its head.
	Open(path string) (File, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
}

// maxLine is how much of a script's first line counts, in bytes (execve(2)), and
// maxScripts how many interpreters may be scripts themselves.
const (
	maxLine    = 255
	maxScripts = 4
)

// Unaffected says in words why the library does not set the clock of a program;
// empty when it does.
func Unaffected(files Files, program string) string {
	for range maxScripts {
		file, err := files.Open(program)
		if err != nil {
			return "cannot be looked at"
		}
		interpreter, why := look(file)
		_ = file.Close() // only read
		if interpreter == "" {
			return why
		}
		program = interpreter
	}
	return "is a script of scripts"
}

// Interpreters are the programs that run a script, by the first lines of the script and of
// interpreters that are scripts themselves; none of what is no script.
func Interpreters(files Files, program string) []string {
	var all []string
	for range maxScripts {
		file, err := files.Open(program)
		if err != nil {
			return all
		}
		interpreter, _ := look(file)
		_ = file.Close() // only read
		if interpreter == "" {
			return all
		}
		all, program = append(all, interpreter), interpreter
	}
	return all
}

// look says why the library does not work on an ELF program, or names the
// interpreter of a script.
func look(file io.ReaderAt) (interpreter, why string) {
	head := make([]byte, maxLine)
	n, _ := file.ReadAt(head, 0) // a short file has a short head
	if line, ok := bytes.CutPrefix(head[:n], []byte("#!")); ok {
		return script(line), "is a script without an interpreter"
	}
	program, err := elf.NewFile(file)
	if err != nil {
		return "", "is no program of this machine"
	}
	if program.Machine != machines[runtime.GOARCH] {
		return "", "is of another architecture"
	}
	loader := ""
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			text := make([]byte, min(p.Filesz, maxLine))
			n, _ := p.ReadAt(text, 0)
			loader = string(bytes.TrimRight(text[:n], "\x00"))
		}
	}
	switch {
	case loader == "":
		return "", "is linked statically"
	case strings.Contains(loader, "musl"):
		return "", "is linked with another C library"
	}
	if _, err := buildinfo.Read(file); err == nil {
		return "", "is written in Go, which asks the kernel for the time"
	}
	return "", ""
}

func script(line []byte) string {
	line, _, _ = bytes.Cut(line, []byte("\n"))
	words := bufio.NewScanner(bytes.NewReader(line))
	words.Split(bufio.ScanWords)
	if !words.Scan() {
		return ""
	}
	return words.Text()
}

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

package audit

import (
	"bufio"
	"bytes"
	"io"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Files is a Launcher that can open the server's files.
type Files interface {
	// Open opens a file by the server's name for it.
	Open(path string) (File, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
}

// maxPrograms bounds the number of kept programs.
const maxPrograms = 64

// programs are the paths of the programs that a server consists of, in the order of first use.
type programs []string

func (p *programs) event(e trace.Event) {
	if e.Op == trace.OpExec && e.Errno == "" && len(*p) < maxPrograms && !slices.Contains(*p, e.Path) {
		*p = append(*p, e.Path)
	}
}

// interpreters adds the interpreters of scripts to the code paths: the kernel starts them without a traced call.
func (p programs) interpreters(launcher Launcher, code *profile.Code) {
	files, ok := launcher.(Files)
	if !ok {
		return
	}
	for _, program := range p {
		for _, interpreter := range interpretersOf(files, program) {
			code.Add(trace.Event{Op: trace.OpExec, Path: interpreter})
		}
	}
}

// maxLine is how much of a script's first line counts, in bytes (execve(2)), and maxScripts bounds how many
// interpreters may be scripts themselves.
const (
	maxLine    = 255
	maxScripts = 4
)

// interpretersOf returns the programs that run a script, from the first lines of the script and of interpreters that
// are scripts; none for a binary.
func interpretersOf(files Files, program string) (all []string) {
	for range maxScripts {
		line, ok := bytes.CutPrefix([]byte(head(files, program, maxLine)), []byte("#!"))
		if !ok {
			return all
		}
		line, _, _ = bytes.Cut(line, []byte("\n"))
		words := bufio.NewScanner(bytes.NewReader(line))
		words.Split(bufio.ScanWords)
		if !words.Scan() {
			return all
		}
		program = words.Text()
		all = append(all, program)
	}
	return all
}

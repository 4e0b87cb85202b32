package audit

import (
	"bufio"
	"bytes"
	"io"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Files is a Launcher that opens files of the server's, to look at its programs.
type Files interface {
	// Open opens a file as the server names it, to read some of it.
	Open(path string) (File, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
}

// maxPrograms bounds the programs of a server that are kept, by number.
const maxPrograms = 64

// programs are the paths of those that a server is made of, in the order of the first time.
type programs []string

func (p *programs) event(e trace.Event) {
	if e.Op == trace.OpExec && e.Errno == "" && len(*p) < maxPrograms && !slices.Contains(*p, e.Path) {
		*p = append(*p, e.Path)
	}
}

// interpreters adds those of scripts to the code paths: the kernel starts them without a
// call that the trace could show.
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

// maxLine is how much of a script's first line counts, in bytes (execve(2)), and
// maxScripts how many interpreters may be scripts themselves.
const (
	maxLine    = 255
	maxScripts = 4
)

// interpretersOf are the programs that run a script, by the first lines of the script and of
// interpreters that are scripts themselves; none of what is no script.
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

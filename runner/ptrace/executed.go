package ptrace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// maxImage bounds the arguments that are read of a new program, in bytes. The kernel accepts more only with a higher
// stack limit (execve(2), "Limits on size of arguments and environment").
const maxImage = 6 << 20

// auxExecFn is AT_EXECFN of getauxval(3): the address of the executed program's name.
const auxExecFn = 31

// executed writes one more line after a successful execve if the kernel took another name or other arguments than
// were read at its entry, because another thread can change them in between. The new program has the kernel's copies
// and has not run yet.
func (t *tracer) executed(k *task, asked []byte) {
	name, argv, ok := t.printer.image(k)
	if !ok || isOf(asked, name, argv) {
		return
	}
	now := time.Now().UnixNano()
	t.interrupt(k)
	t.prefix(k.pid, now)
	t.out = append(appendProgram(append(t.out, "execve("...), name, argv), ", []) = 0"...)
	t.out = append(appendSeconds(append(t.out, " <"...), 0), '>')
	t.line()
	t.current = nil
}

// image returns the name and arguments of the program that a task runs.
func (p *printer) image(k *task) (name string, argv []string, ok bool) {
	vector, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", k.pid))
	if err != nil {
		return "", nil, false
	}
	p.at, p.unread = 0, false
	for ; len(vector) >= 16; vector = vector[16:] {
		if binary.NativeEndian.Uint64(vector) == auxExecFn {
			text, cut, readable := p.string(k, binary.NativeEndian.Uint64(vector[8:]))
			name, ok = string(text), readable && !cut
		}
	}
	file, err := os.Open(fmt.Sprintf("/proc/%d/cmdline", k.pid))
	if err != nil {
		return "", nil, false
	}
	defer func() { _ = file.Close() }() // read-only
	words, err := io.ReadAll(io.LimitReader(file, maxImage))
	if err != nil || len(words) == 0 {
		return "", nil, false
	}
	return name, strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00"), ok
}

// program returns the printed name and arguments of an execve or execveat, without the directory.
func program(c *syscalls.Call, head []byte) []byte {
	_, printed, _ := bytes.Cut(head, []byte("("))
	if c.Args[0] == syscalls.Directory {
		_, printed, _ = bytes.Cut(printed, []byte(", "))
	}
	return bytes.Clone(printed)
}

// isOf reports whether printed names and arguments are those of the executed program. For a script, the program is
// its interpreter, with up to two arguments before the script's own, the last of which is the script.
func isOf(printed []byte, name string, argv []string) bool {
	if rest, ok := strings.CutPrefix(name, "/dev/fd/"); ok && !bytes.HasPrefix(printed, []byte(`"/`)) {
		_, name, _ = strings.Cut(rest, "/") // execveat with a descriptor (fs/exec.c, alloc_bprm)
	}
	args, ok := bytes.CutPrefix(printed, append(appendQuoted(nil, []byte(name), false), ", "...))
	if !ok {
		return false
	}
	if same(args, appendWords(nil, argv)) || len(argv) == 1 && argv[0] == "" && (string(args) == "NULL" || string(args) == "[]") {
		return true
	}
	_, own, several := bytes.Cut(args, []byte(`", `))
	if own = append([]byte("["), own...); !several {
		own = []byte("[]")
	}
	for i := 1; i <= 2 && i < len(argv); i++ {
		if strings.HasSuffix(argv[i], name) && same(own, appendWords(nil, argv[i+1:])) {
			return true
		}
	}
	return false
}

// same reports whether two lists are equal, as far as both were printed.
func same(a, b []byte) bool {
	const more = "...]"
	if bytes.HasSuffix(a, []byte(more)) || bytes.HasSuffix(b, []byte(more)) {
		n := max(0, min(len(a), len(b))-maxString)
		return bytes.Equal(a[:n], b[:n])
	}
	return bytes.Equal(a, b)
}

func appendProgram(b []byte, name string, argv []string) []byte {
	return appendWords(append(appendQuoted(b, []byte(name), false), ", "...), argv)
}

// appendWords appends an array of strings, within the bounds for reading a task's memory.
func appendWords(b []byte, words []string) []byte {
	b = append(b, '[')
	start := len(b)
	for i, word := range words {
		if i > 0 {
			b = append(b, ", "...)
		}
		if i == maxStrings || len(b)-start > maxCall {
			b = append(b, "..."...)
			break
		}
		b = appendQuoted(b, []byte(word[:min(len(word), maxString)]), len(word) > maxString)
	}
	return append(b, ']')
}

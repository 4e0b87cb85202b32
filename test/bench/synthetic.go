package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// The processes of the synthetic trace. Ids of children are reused, as by a kernel (pid_max is at
// most 4194304).
const (
	rootPID    = 100
	workerPID  = 101
	firstChild = 102
	children   = 4_000_000
)

// data is returned by reads of files, the largest part of a real trace.
var data = strings.Repeat(`a\n\0b`, 40)

// synthetic writes a trace that needs as much memory as possible: no file, address, name, program
// or process occurs twice.
type synthetic struct {
	w       *bufio.Writer
	lines   int // still to write
	wait    func(written int64)
	written int64
	err     error
}

// newSynthetic returns a trace of a number of lines. It calls wait with the number of bytes written
// so far, to slow down the writer.
func newSynthetic(w io.Writer, lines int, wait func(written int64)) *synthetic {
	return &synthetic{w: bufio.NewWriter(w), lines: lines, wait: wait}
}

// write writes the whole trace.
func (s *synthetic) write() error {
	s.line(rootPID, `execve("/srv/server", ["server"], 0x7ffc4693c3c8 /* 3 vars */) = 0 <0.000252>`)
	s.line(rootPID, `clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7fb04a321a10) = %d <0.000223>`, workerPID)
	for i := 0; s.lines > 0 && s.err == nil; i++ {
		s.block(i)
		if i%256 == 0 {
			s.flush()
			s.wait(s.written)
		}
	}
	s.flush()
	return s.err
}

// block writes one operation of each kind.
func (s *synthetic) block(i int) {
	child := firstChild + i%children
	address := fmt.Sprintf("198.%d.%d.%d", 18+i>>16&1, i>>8&255, i&255) // RFC 2544, benchmarking
	s.line(rootPID, `openat(AT_FDCWD</srv>, "data/%d", O_RDONLY|O_CLOEXEC) = 3</srv/data/%d> <0.000006>`, i, i)
	s.line(rootPID, `read(3</srv/data/%d>,  <unfinished ...>`, i)
	s.line(workerPID, `read(4</srv/log/%d>, "%s"..., 65536) = 65536 <0.000071>`, i, data)
	s.line(rootPID, `<... read resumed>"%s"..., 65536) = 65536 <0.000071>`, data)
	s.line(workerPID, `openat(AT_FDCWD</srv>, "/srv/none/%d", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000009>`, i)
	s.line(rootPID, `connect(5<TCP:[%d]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("%s")}, 16) = 0 <0.000050>`, 1000+i, address)
	s.line(rootPID, `sendto(6<UDP:[127.0.0.1:50633->127.0.0.53:53]>, "\0224\1\0\0\1\0\0\0\0\0\0\10n%07d\7example\3com\0\0\1\0\1", 38, 0, NULL, 0) = 38 <0.000062>`, i%10_000_000)
	s.line(rootPID, `clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7fb04a321a10) = %d <0.000223>`, child)
	s.line(child, `execve("/srv/bin/%d", ["%d", "%s"], 0x55a0 /* 3 vars */) = 0 <0.000252>`, i, i, data)
	s.line(child, `+++ exited with 0 +++`)
}

// line writes a line unless the trace is complete.
func (s *synthetic) line(pid int, format string, args ...any) {
	if s.lines == 0 || s.err != nil {
		return
	}
	s.lines--
	n, err := fmt.Fprintf(s.w, "%-5d 1795270285.563003 "+format+"\n", append([]any{pid}, args...)...)
	s.written, s.err = s.written+int64(n), err
}

func (s *synthetic) flush() {
	if err := s.w.Flush(); s.err == nil {
		s.err = err
	}
}

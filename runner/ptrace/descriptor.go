package ptrace

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// namer finds out what the descriptors of tasks are.
type namer struct {
	path, link []byte
	// connected has the names of connected stream sockets by inode: they do not
	// change.
	connected map[string]string
	// handles are pidfds by process.
	handles map[int]int
}

// maxNames bounds what a namer remembers of sockets, and maxHandles of processes.
const (
	maxNames   = 4096
	maxHandles = 256
)

func newNamer() *namer {
	return &namer{link: make([]byte, unix.PathMax), connected: map[string]string{}, handles: map[int]int{}}
}

// target is the target of /proc/PID/what, good until the next call; empty when
// there is none.
func (n *namer) target(tid int, what string, fd int) []byte {
	n.path = strconv.AppendInt(append(n.path[:0], "/proc/"...), int64(tid), 10)
	n.path = append(append(n.path, '/'), what...)
	if fd >= 0 {
		n.path = strconv.AppendInt(append(n.path, '/'), int64(fd), 10)
	}
	n.path = append(n.path, 0)
	return n.link[:follow(n.path, n.link)]
}

// descriptor returns what /proc says about a descriptor; empty if there is none.
func (n *namer) descriptor(t *task, fd int) []byte {
	if fd < 0 {
		return nil
	}
	return n.target(t.pid, "fd", fd)
}

// nameless reports whether a descriptor has neither name nor peer: eventfd, epoll,
// timerfd and their like.
func nameless(target []byte) bool { return bytes.HasPrefix(target, []byte("anon_inode:")) }

// isFile reports whether a descriptor is something with a path.
func isFile(target []byte) bool { return len(target) > 0 && target[0] == '/' }

// append appends "3</path>".
func (n *namer) append(b []byte, t *task, fd int) []byte {
	b = strconv.AppendInt(b, int64(fd), 10)
	target := n.descriptor(t, fd)
	if len(target) == 0 {
		return b
	}
	return n.decorate(b, t, fd, target)
}

// decorate appends "<...>" for a descriptor.
func (n *namer) decorate(b []byte, t *task, fd int, target []byte) []byte {
	const deleted = " (deleted)"
	switch {
	case isFile(target):
		name, gone := bytes.CutSuffix(target, []byte(deleted))
		if gone = gone && removed(t.pid, fd, string(target)); !gone {
			name = target // is called so
		}
		b = append(appendEscaped(append(b, '<'), name, true), '>')
		if gone {
			b = append(b, "(deleted)"...)
		}
		return b
	case bytes.HasPrefix(target, []byte("socket:[")):
		return append(append(append(b, '<'), n.socket(t, fd, string(target))...), '>')
	case string(target) == "anon_inode:[pidfd]":
		return append(strconv.AppendInt(append(b, "<pid:"...), int64(pidOf(t.pid, fd)), 10), '>')
	}
	return append(appendEscaped(append(b, '<'), target, true), '>')
}

// removed reports whether a file that /proc calls "(deleted)" is: its name may
// only end like that.
func removed(tid, fd int, name string) bool {
	process := "/proc/" + strconv.Itoa(tid)
	var open, named unix.Stat_t
	if unix.Stat(process+"/fd/"+strconv.Itoa(fd), &open) != nil || open.Nlink == 0 {
		return true
	}
	return unix.Lstat(process+"/root"+name, &named) != nil || named.Dev != open.Dev || named.Ino != open.Ino
}

// directory appends the directory that a path is relative to, nothing for an
// absolute path.
func (n *namer) directory(b []byte, t *task, fd int, absolute bool) []byte {
	if fd != unix.AT_FDCWD {
		return n.append(b, t, fd)
	}
	b = append(b, "AT_FDCWD"...)
	if absolute {
		return b
	}
	if target := n.target(t.pid, "cwd", -1); len(target) > 0 {
		b = append(appendEscaped(append(b, '<'), target, true), '>')
	}
	return b
}

// socket returns the name of a socket: its protocol, and its addresses, or its
// inode if it has none.
func (n *namer) socket(t *task, fd int, target string) string {
	if name, ok := n.connected[target]; ok {
		return name
	}
	ours := n.borrow(t, fd)
	if ours < 0 {
		return target
	}
	name, whole := describe(ours, strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]"))
	_ = unix.Close(ours) // a copy
	if whole {
		if len(n.connected) >= maxNames {
			clear(n.connected)
		}
		n.connected[target] = name
	}
	return name
}

// pidfdThread is PIDFD_THREAD of linux/pidfd.h.
const pidfdThread = unix.O_EXCL

// changed forgets the name of a socket.
func (n *namer) changed(t *task, fd int) { delete(n.connected, string(n.descriptor(t, fd))) }

// borrow copies a descriptor of a task; -1 when it cannot be had.
func (n *namer) borrow(t *task, fd int) int {
	process := t.processID()
	handle, ok := n.handles[process]
	if !ok {
		var err error
		if handle, err = unix.PidfdOpen(process, 0); err != nil {
			return -1
		}
		if len(n.handles) >= maxHandles {
			n.forget()
		}
		n.handles[process] = handle
	}
	if ours := n.copy(handle, t, fd); ours >= 0 {
		return ours
	}
	// A thread may have descriptors of its own, or have outlived the first one.
	handle, err := unix.PidfdOpen(t.pid, pidfdThread)
	if err != nil {
		return -1 // Linux before 6.9
	}
	defer func() { _ = unix.Close(handle) }() // nothing was written to it
	return n.copy(handle, t, fd)
}

// copy copies the descriptor if it is the task's.
func (n *namer) copy(handle int, t *task, fd int) int {
	ours, err := unix.PidfdGetfd(handle, fd, 0)
	if err != nil {
		return -1
	}
	var stat unix.Stat_t
	err = unix.Fstat(ours, &stat)
	if err != nil || "socket:["+strconv.FormatUint(stat.Ino, 10)+"]" != string(n.descriptor(t, fd)) {
		_ = unix.Close(ours) // a copy
		return -1
	}
	return ours
}

// forget closes all pidfds.
func (n *namer) forget() {
	for process := range n.handles {
		n.ended(process)
	}
}

// ended closes the pidfd of a process, whose pid may be used again.
func (n *namer) ended(process int) {
	if handle, ok := n.handles[process]; ok {
		_ = unix.Close(handle) // nothing was written to it
		delete(n.handles, process)
	}
}

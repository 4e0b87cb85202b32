package trace

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// Bounds on the work for one name: how many symbolic links it may lead through
// (path_resolution(7)), and how many parts it may have in all. The kernel allows
// some 2000 parts; a name with more than maxParts is counted as unplaced.
const (
	maxHops  = 40
	maxParts = 256
)

// handle is a descriptor of a process.
type handle struct{ pid, number int }

// resolve returns the name of a path argument, joined with the directory that it
// is relative to, and clean.
func (c *call) resolve(dir, arg []byte) (string, textKind) {
	name, kind := c.join(dir, arg)
	if name == "" {
		return "", kind
	}
	return path.Clean(name), kind
}

// join is resolve without cleaning. dir is the descriptor of a "...at" call, nil
// for other calls.
func (c *call) join(dir, arg []byte) (string, textKind) {
	value, kind := text(arg)
	name := string(value)
	if strings.HasPrefix(name, "/") {
		return name, kind
	}
	base, isFile := c.task.fs.cwd, false
	if number, decor := descriptor(dir); decor != nil {
		base, _ = filePath(decor)
		isFile = number >= 0
	}
	switch {
	case name == "" && (!isFile || kind == textPointer):
		return "", kind // an error, or unreadable
	case name == "":
		return base, kind // with a descriptor, that file itself
	case base == "":
		return name, kind // relative to an unknown directory
	}
	return base + "/" + name, kind
}

// locate is resolve for calls whose result does not show what they found: it
// follows known symbolic links, in the last part only if the call does.
func (d *decoder) locate(c *call, dir, arg []byte, follow bool) (string, textKind) {
	name, kind := c.join(dir, arg)
	if !strings.HasPrefix(name, "/") {
		if name == "" {
			return "", kind
		}
		return path.Clean(name), kind
	}
	return d.walk(c, name, follow), kind
}

// walk cleans an absolute name as the kernel does: ".." after a symbolic link is
// the directory above the link's target.
func (d *decoder) walk(c *call, name string, follow bool) string {
	if d.isPlain(name) {
		return path.Clean(name)
	}
	at, hops := make([]byte, 0, len(name)), 0 // without a final slash
	for parts, rest := 0, name; rest != ""; parts++ {
		if parts == maxParts {
			d.stats.Unplaced++
			return path.Clean(name)
		}
		part, tail, _ := strings.Cut(rest, "/")
		rest = tail
		switch part {
		case "", ".":
			continue
		case "..":
			d.vague = d.vague || len(at) > 0 && !d.dirs[string(at)]
			at = at[:max(0, bytes.LastIndexByte(at, '/'))]
			continue
		}
		dir := len(at)
		at = append(append(at, '/'), part...)
		if rest == "" && !follow {
			break
		}
		to := d.pointsAt(c, at)
		if to == "" && magical(at) {
			d.astray = true // it may lead anywhere
		}
		if to != "" && hops < maxHops {
			hops++
			rest, at = to+"/"+rest, at[:dir]
			if path.IsAbs(to) {
				at = at[:0]
			}
		}
	}
	return "/" + strings.TrimPrefix(string(at), "/")
}

// isPlain reports whether an absolute name leads through no link that is known, and back from none.
func (d *decoder) isPlain(name string) bool {
	return len(d.links.to) == 0 && !strings.HasPrefix(name, "/proc/") && !strings.HasPrefix(name, "/dev/fd/") && !strings.Contains(name, "/..")
}

// pointsAt returns where a symbolic link leads, "" if none is known. Known are those
// that the server made or went through, and those of /proc.
func (d *decoder) pointsAt(c *call, name []byte) string {
	if bytes.HasPrefix(name, []byte("/proc/")) || bytes.HasPrefix(name, []byte("/dev/fd/")) {
		return d.magic(c, string(name))
	}
	return d.links.to[string(name)]
}

// magical reports whether a name is a link in a process's directory in /proc that
// may lead to any file.
func magical(name []byte) bool {
	dir, base := path.Split(string(name))
	if dir == "/dev/fd/" {
		return true
	}
	if !strings.HasPrefix(dir, "/proc/") {
		return false
	}
	switch base {
	case "cwd", "root", "exe":
		return true
	}
	return strings.HasSuffix(dir, "/fd/") || strings.HasSuffix(dir, "/map_files/")
}

// magic follows cwd, root and fd/N of a process's directory in /proc (proc(5)).
func (d *decoder) magic(c *call, name string) string {
	p := c.task.process
	tail, ok := strings.CutPrefix(name, "/dev/")
	if !ok {
		var of string
		of, tail, _ = strings.Cut(strings.TrimPrefix(name, "/proc/"), "/")
		if pid, err := strconv.Atoi(of); err == nil {
			t := d.tasks.known[pid]
			if t == nil || t.process != p && tail == "cwd" {
				return ""
			}
			p = t.process
		} else if of != "self" && of != "thread-self" {
			return ""
		}
	}
	if thread, ok := strings.CutPrefix(tail, "task/"); ok { // threads usually share them
		_, tail, _ = strings.Cut(thread, "/")
	}
	switch tail {
	case "root":
		return "/"
	case "cwd":
		return c.task.fs.cwd
	}
	if number, ok := strings.CutPrefix(tail, "fd/"); ok {
		if n, err := strconv.Atoi(number); err == nil {
			return d.held(p, n)
		}
	}
	return ""
}

// opened remembers the file of a descriptor that a call returned.
func (d *decoder) opened(c *call, name string) {
	d.keep(c.task.process, c.result.pid, name)
}

func (d *decoder) keep(p *process, number int, name string) {
	for dir := parent(name); dir != "" && !d.dirs[dir] && d.dirBytes+len(dir) <= maxDirs; dir = parent(dir) {
		d.dirs[strings.Clone(dir)] = true // a part would keep the whole name
		d.dirBytes += len(dir)
	}
	d.handles.put(handle{p.pid, number}, name)
	p.memory = p.memory || inMemory(name)
}

// parent returns the directory of an absolute name; "" for the root.
func parent(name string) string { return name[:max(0, strings.LastIndexByte(name, '/'))] }

// maxDirs bounds the names of directories that are known to be no links, in bytes.
const maxDirs = 4 << 20

// inMemory reports whether a file was made by memfd_create(2).
func inMemory(name string) bool { return strings.HasPrefix(name, "/memfd:") }

// held returns the file of a descriptor, which a process may have inherited.
func (d *decoder) held(p *process, number int) string {
	if name, ok := d.handles.get(handle{p.pid, number}); ok {
		return name
	}
	for _, pid := range slices.Backward(p.forebears) {
		if name, ok := d.handles.get(handle{pid, number}); ok {
			return name
		}
	}
	return ""
}

func (d *decoder) dup(c *call) {
	if name, ok := filePath(c.result.decor); ok && !c.failed() {
		d.opened(c, name)
	}
}

// learnLink remembers that one directory links to another, if a file was asked for
// in the one and found in the other.
func (d *decoder) learnLink(asked, found string) {
	if asked == found || asked == "" || found == "" || path.Base(asked) != path.Base(found) || strings.HasPrefix(asked, "/proc/") {
		return
	}
	if dir := path.Dir(asked); dir != "/" && path.IsAbs(dir) && path.Dir(found) != dir {
		_ = d.links.put(dir, path.Dir(found)) // whoever opened it knows its name
	}
}

// relinked keeps the symbolic links up to date. After a call of which it is not sure that it worked, none is
// forgotten.
func (d *decoder) relinked(e Event, sure bool) {
	switch {
	case e.Op == OpLink && strings.HasPrefix(e.Target, "/") && e.Path != "":
		d.linkAt(e.Path, e.Target)
	case e.Op == OpDelete && sure:
		d.linkAt(e.Path, "")
	case e.Op == OpRename:
		to := d.links.to[e.Path]
		if sure {
			d.linkAt(e.Path, "")
		}
		if sure || to != "" {
			d.linkAt(e.Target, to)
		}
	}
}

// linkAt remembers where a link leads that the server made; "" if there is none any more. Later changes
// through a link that is not remembered would have a false name.
func (d *decoder) linkAt(name, to string) {
	if !d.links.put(name, to) {
		d.stats.Unplaced++
	}
}

// maxLinks bounds the names and targets of the links that are remembered, in bytes.
const maxLinks = 8 << 20

// links has symbolic links. The zero value is empty.
type links struct {
	to   map[string]string
	size int
}

// put sets where a link leads; "" removes it. It returns false if there is no room.
func (l *links) put(name, to string) bool {
	old, known := l.to[name]
	if known && old == to {
		return true // each open by way of a link learns it again
	}
	if known {
		delete(l.to, name)
		l.size -= len(name) + len(old)
	}
	if to == "" {
		return true
	}
	if l.size+len(name)+len(to) > maxLinks {
		return false
	}
	if l.to == nil {
		l.to = map[string]string{}
	}
	l.to[name] = to
	l.size += len(name) + len(to)
	return true
}

// linkText returns where a symbolic link points to: relative to its own directory.
func linkText(link string, arg []byte) (string, textKind) {
	value, kind := text(arg)
	target := string(value)
	if target == "" || path.IsAbs(target) {
		return target, kind
	}
	return path.Join(path.Dir(link), target), kind
}

// learnCwd remembers the working directory that strace printed.
func (c *call) learnCwd(dir []byte) {
	if len(dir) > 0 && dir[0] == 'A' { // AT_FDCWD</work>
		if _, decor := descriptor(dir); decor != nil && string(decor) != c.task.fs.cwd {
			if cwd, ok := filePath(decor); ok {
				c.task.fs.cwd = cwd
			}
		}
	}
}

func (d *decoder) chdir(c *call) {
	if c.unreturned() {
		c.task.fs.cwd = "" // processes that share it live on
	}
	if c.failed() {
		return
	}
	if c.Args[0] == syscalls.Descriptor {
		_, decor := descriptor(c.arg(0))
		c.task.fs.cwd, _ = filePath(decor)
		return
	}
	d.astray, d.vague = false, false
	cwd, _ := d.locate(c, nil, c.arg(0), true)
	switch {
	case d.astray:
		cwd = ""
	case d.vague:
		cwd, _ = c.join(nil, c.arg(0)) // names relative to it are vague, too
	}
	c.task.fs.cwd = cwd
}

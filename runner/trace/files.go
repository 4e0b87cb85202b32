package trace

import (
	"path"
	"strconv"
	"strings"
)

// openShape says which arguments of an open are what; -1: there is none.
type openShape struct {
	dir, path, flags int
}

var opens = map[string]openShape{
	"open":    {-1, 0, 1},
	"creat":   {-1, 0, -1},
	"openat":  {0, 1, 2},
	"openat2": {0, 1, 2},
	// The handle is opaque: only the result says what was opened.
	"open_by_handle_at": {-1, -1, 2},
}

// writing are the flags that make an open a change.
var writing = []string{"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE", "O_ACCMODE"}

func (o openShape) open(d *decoder, c *call) {
	var dir []byte
	if o.dir >= 0 {
		dir = c.arg(o.dir)
		c.learnCwd(dir)
	}
	op, names := OpRead, []string{"O_WRONLY", "O_CREAT", "O_TRUNC"}
	if o.flags >= 0 {
		arg := c.arg(o.flags)
		if f := field(arg, "flags"); f != nil {
			arg = f
		}
		names = flags(arg)
	}
	for _, f := range names {
		for _, w := range writing {
			if f == w {
				op = OpWrite
			}
		}
	}
	asked, kind := c.resolve(dir, c.arg(o.path))
	if kind == textPointer {
		d.blind(c)
	}
	found := asked
	if resolved, ok := filePath(c.result.decor); ok {
		found = d.own(c, resolved, asked)
	}
	if o.path < 0 && found == "" {
		d.evade(c)
		return
	}
	d.emit(c, Event{Op: op, Path: found, Flags: names})
}

// own writes /proc/self (or thread-self) for the caller's own directory in
// /proc, whatever its number is.
func (d *decoder) own(c *call, resolved, asked string) string {
	tail, ok := strings.CutPrefix(resolved, "/proc/")
	if !ok {
		return resolved
	}
	number, tail, _ := strings.Cut(tail, "/")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return resolved
	}
	known := d.tasks.known[pid]
	switch {
	case known != nil && known.group == c.task.group:
	case known == nil && (strings.HasPrefix(asked, "/proc/self/") || strings.HasPrefix(asked, "/proc/thread-self/")):
		// Its number in another PID namespace.
	default:
		return resolved
	}
	if thread, ok := strings.CutPrefix(tail, "task/"); ok {
		_, tail, _ = strings.Cut(thread, "/")
		return path.Join("/proc/thread-self", tail)
	}
	return path.Join("/proc/self", tail)
}

// changeShape says which arguments of a change to files are what; -1: none.
type changeShape struct {
	fd, dir, path         int
	targetDir, targetPath int
}

var changes = map[string]changeShape{
	"mkdir": onPath, "rmdir": onPath, "unlink": onPath, "mknod": onPath,
	"chmod": onPath, "chown": onPath, "lchown": onPath, "truncate": onPath,
	"setxattr": onPath, "lsetxattr": onPath,
	"mkdirat": onPathAt, "unlinkat": onPathAt, "mknodat": onPathAt,
	"fchmodat": onPathAt, "fchmodat2": onPathAt, "fchownat": onPathAt, "utimensat": onPathAt,
	"fchmod": onDescriptor, "fchown": onDescriptor, "ftruncate": onDescriptor,
	"fallocate": onDescriptor, "fsetxattr": onDescriptor,
	"rename":    {-1, -1, 0, -1, 1},
	"renameat":  {-1, 0, 1, 2, 3},
	"renameat2": {-1, 0, 1, 2, 3},
	// The new name is what is changed: see Event.Target.
	"link":      {-1, -1, 1, -1, 0},
	"linkat":    {-1, 2, 3, 0, 1},
	"symlink":   {-1, -1, 1, -1, 0},
	"symlinkat": {-1, 1, 2, -1, 0},
}

// The shapes that most calls share.
var (
	onPath       = changeShape{-1, -1, 0, -1, -1}
	onPathAt     = changeShape{-1, 0, 1, -1, -1}
	onDescriptor = changeShape{0, -1, -1, -1, -1}
)

func (s changeShape) change(d *decoder, c *call) {
	e := Event{Op: OpWrite}
	if s.fd >= 0 {
		_, decor := descriptor(c.arg(s.fd))
		name, ok := filePath(decor)
		if !ok {
			return // a pipe or a socket
		}
		e.Path = d.own(c, name, "")
		d.emit(c, e)
		return
	}
	c.learnCwd(c.arg(s.dir))
	var kind, targetKind textKind
	e.Path, kind = c.resolve(c.arg(s.dir), c.arg(s.path))
	if s.targetPath >= 0 {
		if strings.HasPrefix(c.name, "symlink") {
			e.Target, targetKind = linkText(e.Path, c.arg(s.targetPath))
		} else {
			e.Target, targetKind = c.resolve(c.arg(s.targetDir), c.arg(s.targetPath))
		}
	}
	if kind == textPointer || targetKind == textPointer {
		d.blind(c)
	}
	d.emit(c, e)
	if c.name == "renameat2" && hasFlag(c.arg(4), "RENAME_EXCHANGE") {
		e.Path, e.Target = e.Target, e.Path
		d.emit(c, e)
	}
}

// linkText is where a symbolic link points to: relative to its own directory.
func linkText(link string, arg []byte) (string, textKind) {
	value, kind := text(arg)
	target := string(value)
	if target == "" || path.IsAbs(target) {
		return target, kind
	}
	return path.Join(path.Dir(link), target), kind
}

// resolve joins a path argument with the directory that it is relative to:
// dir is a "...at" call's descriptor, nil for calls that have none.
func (c *call) resolve(dir, arg []byte) (string, textKind) {
	value, kind := text(arg)
	name := string(value)
	if strings.HasPrefix(name, "/") {
		return path.Clean(name), kind
	}
	base, isFile := c.task.fs.cwd, false
	if number, decor := descriptor(dir); decor != nil {
		base, _ = filePath(decor)
		isFile = number >= 0
	}
	if name == "" && !(isFile && kind != textPointer) {
		return "", kind // an error, or unreadable; with a descriptor, that file itself
	}
	return path.Join(base, name), kind
}

// learnCwd keeps the working directory that strace printed.
func (c *call) learnCwd(dir []byte) {
	if len(dir) > 0 && dir[0] == 'A' { // AT_FDCWD</work>
		if _, decor := descriptor(dir); decor != nil {
			if cwd, ok := filePath(decor); ok {
				c.task.fs.cwd = cwd
			}
		}
	}
}

func (d *decoder) chdir(c *call) {
	if c.failed() {
		return
	}
	if c.name == "fchdir" {
		_, decor := descriptor(c.arg(0))
		c.task.fs.cwd, _ = filePath(decor)
		return
	}
	c.task.fs.cwd, _ = c.resolve(nil, c.arg(0))
}

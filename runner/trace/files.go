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
	if c.stopped() {
		return
	}
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
		d.opened(c, resolved)
		d.learnLink(asked, resolved)
		found = d.own(c, resolved, asked)
	}
	if o.path < 0 && found == "" {
		d.evade(c)
		return
	}
	e := Event{Op: op, Path: found, Flags: names, Dir: c.task.fs.cwd}
	if asked != found {
		e.Asked = asked
	}
	d.emit(c, e)
}

// mapped makes the event of a shared, writable mapping of a file.
func (d *decoder) mapped(c *call) {
	_, decor := descriptor(c.arg(4))
	name, ok := storage(decor)
	if !ok || c.failed() || !hasFlag(c.arg(2), "PROT_WRITE") {
		return
	}
	d.emit(c, Event{Op: OpMap, Path: d.own(c, name, "")})
}

// memory makes the event of a file that has no place: "/memfd:name".
func (d *decoder) memory(c *call) {
	if name, ok := filePath(c.result.decor); ok {
		d.opened(c, name)
		d.emit(c, Event{Op: OpWrite, Path: name})
	}
}

// own writes /proc/self (or thread-self) for the caller's own directory in
// /proc, whatever its number is. The number is one of the server's own PID
// namespace: that of another process may be the caller's for the tracer.
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
	mine := c.task.process.number
	if mine == 0 && !d.tasks.nested {
		mine = c.task.process.pid
	}
	self := path.Join("/proc/self", tail)
	thread, ok := strings.CutPrefix(tail, "task/")
	if ok {
		_, tail, _ = strings.Cut(thread, "/")
		thread = path.Join("/proc/thread-self", tail)
	}
	switch {
	case pid != mine && (mine != 0 || asked != self && (!ok || asked != thread)):
		return resolved
	case ok:
		return thread
	}
	return self
}

// changeShape says which arguments of a change to files are what; -1: none.
type changeShape struct {
	fd, dir, path         int
	targetDir, targetPath int
	// follow: a symbolic link stands for what it points at.
	follow bool
}

var changes = map[string]changeShape{
	"mkdir": onName, "rmdir": onName, "unlink": onName, "mknod": onName, "lchown": onName,
	"lsetxattr": onName, "lremovexattr": onName,
	"chmod": onPath, "chown": onPath, "truncate": onPath, "setxattr": onPath, "removexattr": onPath,
	"utime": onPath, "utimes": onPath,
	"mkdirat": onNameAt, "unlinkat": onNameAt, "mknodat": onNameAt,
	"fchmodat": onPathAt, "fchmodat2": onPathAt, "fchownat": onPathAt, "utimensat": onPathAt,
	"futimesat": onPathAt, "setxattrat": onPathAt, "removexattrat": onPathAt,
	"fchmod": onDescriptor, "fchown": onDescriptor, "ftruncate": onDescriptor,
	"fallocate": onDescriptor, "fsetxattr": onDescriptor, "fremovexattr": onDescriptor,
	"rename":    {-1, -1, 0, -1, 1, false},
	"renameat":  {-1, 0, 1, 2, 3, false},
	"renameat2": {-1, 0, 1, 2, 3, false},
	// The new name is what is changed: see Event.Target.
	"link":      {-1, -1, 1, -1, 0, false},
	"linkat":    {-1, 2, 3, 0, 1, false},
	"symlink":   {-1, -1, 1, -1, 0, false},
	"symlinkat": {-1, 1, 2, -1, 0, false},
}

// The shapes that most calls share.
var (
	onName       = changeShape{-1, -1, 0, -1, -1, false}
	onNameAt     = changeShape{-1, 0, 1, -1, -1, false}
	onPath       = changeShape{-1, -1, 0, -1, -1, true}
	onPathAt     = changeShape{-1, 0, 1, -1, -1, true}
	onDescriptor = changeShape{0, -1, -1, -1, -1, false}
)

// follows reports whether the call takes a symbolic link for what it points at:
// its last argument may say otherwise than the others of its kind.
func (s changeShape) follows(c *call) bool {
	last := c.arg(len(c.args) - 1)
	switch {
	case hasFlag(last, "AT_SYMLINK_FOLLOW"):
		return true
	case hasFlag(last, "AT_SYMLINK_NOFOLLOW"):
		return false
	}
	return s.follow
}

// verb is the operation of a change, by its name.
func verb(name string) Op {
	switch {
	case strings.HasPrefix(name, "rename"):
		return OpRename
	case strings.HasPrefix(name, "unlink"), name == "rmdir":
		return OpDelete
	case strings.Contains(name, "link"):
		return OpLink
	case strings.HasPrefix(name, "mk"), strings.HasSuffix(name, "truncate"), name == "fallocate":
		return OpWrite
	}
	return OpAttribute
}

func (s changeShape) change(d *decoder, c *call) {
	e := Event{Op: verb(c.name)}
	if s.fd >= 0 {
		_, decor := descriptor(c.arg(s.fd))
		if name, ok := filePath(decor); ok { // else a pipe or a socket
			e.Path = d.own(c, name, "")
			d.emit(c, e)
		}
		return
	}
	d.astray = false
	if !s.names(d, c, &e) {
		d.blind(c)
	}
	if !c.failed() {
		d.relinked(e)
		if d.astray || unplaced(e.Path) || e.Op == OpRename && unplaced(e.Target) {
			d.stats.Unplaced++
		}
	}
	d.emit(c, e)
	if c.name == "renameat2" && hasFlag(c.arg(4), "RENAME_EXCHANGE") {
		e.Path, e.Target = e.Target, e.Path
		d.emit(c, e)
	}
}

// names sets what the call names; false when one of them could not be read.
func (s changeShape) names(d *decoder, c *call, e *Event) bool {
	c.learnCwd(c.arg(s.dir))
	var kind, targetKind textKind
	e.Path, kind = d.locate(c, c.arg(s.dir), c.arg(s.path), s.follow && s.follows(c))
	switch {
	case s.targetPath < 0:
	case e.Op == OpLink && strings.HasPrefix(c.name, "symlink"):
		e.Target, targetKind = linkText(e.Path, c.arg(s.targetPath))
	default:
		e.Target, targetKind = d.locate(c, c.arg(s.targetDir), c.arg(s.targetPath), s.follows(c))
	}
	return kind != textPointer && targetKind != textPointer
}

// unplaced reports whether a name is relative to a directory that is not known.
func unplaced(name string) bool { return name != "" && !path.IsAbs(name) }

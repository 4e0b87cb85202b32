package trace

import (
	"bytes"
	"net/netip"
	"path"
	"sync/atomic"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// MaxData bounds what the tracer prints of a payload, in bytes.
const MaxData = 4096

// Bounds on what a hostile server can make the decoder remember.
const (
	maxDetail    = 512
	maxTasks     = 1 << 14
	maxSuspended = 32 << 20 // bytes of calls that have not returned
	maxSample    = 200
)

// Stats says how much was read, and what of it could not be used.
type Stats struct {
	// Lines and Bytes of the trace, and Events made of them.
	Lines, Events uint64
	Bytes         int64
	// Unparsed counts lines that are not what strace prints; Sample is the
	// beginning of the first. Not 0: something may have been missed.
	Unparsed int
	Sample   string
	// Cut counts lines that were too long to keep, Dropped calls and processes
	// for lack of room. Not 0: something was missed.
	Cut, Dropped int
	// Unplaced counts changes to files by names that are relative to an unknown
	// directory, or that have too many parts to follow. Not 0: they may have
	// changed any file.
	Unplaced int
	// Blinded counts calls whose arguments the tracer could not read.
	Blinded int
	// Forged counts calls by which the server wrote to its own stdin, or read its own stdout. Not 0: the positions
	// of events say nothing.
	Forged int
	// Alive counts the processes and threads of the server that have not been seen
	// to end. Not 0 after the trace has ended: the tracer went first.
	Alive int
	// KilledDaemons counts processes that the server had left behind and that
	// were killed, at the end of the audit or before.
	KilledDaemons int
	// Begun: the server's own first execve was seen.
	Begun bool
	// At is the position of the conversation at the end.
	At Position
	// Overflow: the trace was longer than Config.MaxBytes, and was given up.
	Overflow bool
}

// call is a system call that has returned, its parts still as printed.
type call struct {
	*spec
	task   *task
	time   time.Time
	at     Position
	number uint64 // of the line at which it was entered
	args   [][]byte
	text   []byte // the arguments as one text
	result returned
	// doubtful: it is not known yet whether a filter stopped it.
	doubtful bool
}

// arg returns the i-th argument; nil if there are fewer.
func (c *call) arg(i int) []byte {
	if i < 0 || i >= len(c.args) {
		return nil
	}
	return c.args[i]
}

// kind returns the first argument of one of the kinds; nil for none.
func (c *call) kind(kinds ...syscalls.Arg) []byte { return c.arg(c.Args.Index(kinds...)) }

func (c *call) takes(kinds ...syscalls.Arg) bool { return c.Args.Index(kinds...) >= 0 }

func (c *call) failed() bool { return c.result.errno != "" }

// decoder turns lines into events. It is not safe for concurrent use.
type decoder struct {
	cfg   Config
	sink  func(Event)
	stats Stats
	made  Made

	at      Position
	tasks   tasks
	sockets recent[string, endpoint]
	claims  *claims // nil for none
	// stdinRead is set when the server reads its stdin; nil if not needed.
	stdinRead *atomic.Bool
	names     recent[string, string]
	// framers has the streams to and from name servers over TCP; announced has
	// the addresses of OpConnect.
	framers   recent[string, *framer]
	announced recent[netip.AddrPort, struct{}]
	// bound has the binds that are held back, by the local address.
	bound map[netip.AddrPort]*bound
	// asked has the addresses that descriptors were connected to.
	asked recent[handle, netip.AddrPort]
	// spliced maps the inodes of pipes to the file whose bytes they hold.
	spliced recent[uint64, string]
	// links has symbolic links, handles the files of descriptors.
	links   links
	handles recent[handle, string]
	feeds   feeds
	started environment
	// executable returns the file that a process executes; nil where the tracer's pids are not ours.
	executable func(pid int) string
	// forging: the server may have sent itself a SIGSYS that looks like a filter's.
	forging bool
	// astray: the last name led through a link whose target is not known. vague: it had ".." behind what may be a link.
	astray, vague bool
	// dirs are directories that the kernel named, up to maxDirs bytes: they are no links.
	dirs     map[string]bool
	dirBytes int
	pending  int // bytes
	args     [][]byte
}

func newDecoder(cfg Config, sink func(Event)) *decoder {
	return &decoder{cfg: cfg, sink: sink, tasks: newTasks(),
		sockets: newRecent[string, endpoint](8192), names: newRecent[string, string](8192),
		framers: newRecent[string, *framer](256), announced: newRecent[netip.AddrPort, struct{}](8192),
		asked: newRecent[handle, netip.AddrPort](4096), bound: map[netip.AddrPort]*bound{},
		spliced: newRecent[uint64, string](1024),
		handles: newRecent[handle, string](2048), dirs: map[string]bool{}, feeds: newFeeds()}
}

// feed takes one line without its newline. It keeps nothing of b.
func (d *decoder) feed(b []byte) {
	d.stats.Lines++
	l, err := parseLine(b)
	if err != nil {
		d.unparsed(b)
		return
	}
	d.settle(d.tasks.known[l.pid], l)
	switch l.kind {
	case lineCall, lineUnfinished:
		spec, ok := specs[string(l.name)]
		if !ok {
			return // not traced: strace prints the call that an attached process was in
		}
		t := d.task(l.pid)
		if t.inside {
			d.made.note(spec, l.rest)
			d.forging = d.forging || forges(spec, l.rest)
		}
		if l.kind == lineUnfinished {
			d.suspend(t, spec, l)
			return
		}
		c := call{spec: spec, task: t, time: l.time, at: d.at, number: d.stats.Lines}
		d.finish(&c, l.rest, b)
	case lineResumed:
		d.resume(l, b)
	case lineSuperseded:
		d.supersede(l)
	case lineGone:
		if l.forbidden {
			d.forbidden(l)
		}
		if l.killed {
			d.killed(l.pid)
		}
		d.gone(l.pid)
	case lineSignal, lineUnnamed:
	}
}

// suspended is a call that has been entered and not yet returned.
type suspended struct {
	call
	// text is nil if the rest of the call does not matter either.
	text []byte
	// replaced: the thread has become the whole process, so the execve worked.
	replaced bool
	// thread: a clone that makes a thread.
	thread bool
}

func (d *decoder) suspend(t *task, s *spec, l line) {
	d.forget(t)
	p := &suspended{call: call{spec: s, task: t, time: l.time, at: d.at, number: d.stats.Lines}}
	p.thread = s.Op == syscalls.Clone && bytes.Contains(l.rest, []byte("CLONE_THREAD"))
	if d.relevant(t, s, l.rest) {
		if d.pending+len(l.rest) > maxSuspended {
			d.stats.Dropped++
		} else {
			p.text = append(make([]byte, 0, len(l.rest)+64), l.rest...)
			d.pending += len(p.text)
		}
	}
	t.suspended = p
	if s.Op == syscalls.Clone {
		d.tasks.cloning[t.pid] = t
	}
}

// forget drops the suspended call of a task.
func (d *decoder) forget(t *task) {
	if t.suspended != nil {
		d.pending -= len(t.suspended.text)
		t.suspended = nil
		delete(d.tasks.cloning, t.pid)
	}
}

func (d *decoder) resume(l line, b []byte) {
	t := d.task(l.pid)
	p := t.suspended
	if unnamed(l.name) {
		d.abandon(t)
		return
	}
	if p == nil || p.Name != string(l.name) {
		if t.inside {
			d.unparsed(b)
		}
		return
	}
	d.forget(t)
	if p.text == nil {
		return
	}
	c := p.call
	c.task = t
	if p.replaced {
		// Whatever strace printed as the result: the process image is a new one.
		l.rest = []byte(") = 0")
	}
	d.finish(&c, append(p.text, l.rest...), b)
}

// relevant reports, cheaply, whether a call may make an event or advance the
// position. Most lines of a trace are reads of files, which do neither.
func (d *decoder) relevant(t *task, s *spec, rest []byte) bool {
	if !t.inside {
		return s.lineage()
	}
	switch s.Op {
	case syscalls.Input, syscalls.Output:
	case syscalls.Map:
		return bytes.Contains(rest, []byte("MAP_SHARED")) || d.loads(rest)
	default:
		return true
	}
	open := bytes.IndexByte(rest, '<')
	if open < 0 || open+1 >= len(rest) || open > 12 {
		return true
	}
	decor := rest[open+1:]
	switch {
	case decor[0] == '/':
		return s.stores() || d.loads(rest)
	case bytes.HasPrefix(decor, []byte("anon_inode:")):
		return false
	case bytes.HasPrefix(decor, []byte("pipe:[")):
		end := bytes.IndexByte(decor, '>')
		if end < 0 {
			return true
		}
		inode := pipeInode(decor[:end])
		return d.feeds.workers || inode == d.cfg.Stdin || inode == d.cfg.Stdout
	}
	return true
}

// finish handles a call that has returned; rest is the text after "name(".
func (d *decoder) finish(c *call, rest, b []byte) {
	if c.handle == nil || !d.relevant(c.task, c.spec, rest) {
		return
	}
	args, tail, err := split(d.args[:0], rest)
	d.args = args[:0]
	if err == nil {
		c.args, c.text = args, rest[:len(rest)-len(tail)-1]
		c.result, err = parseResult(tail)
	}
	if err != nil {
		if !bytes.HasSuffix(b, []byte(unavailableMark)) {
			d.unparsed(b)
		}
		return
	}
	c.handle(d, c)
}

// gone ends a task. Its suspended call never returned.
func (d *decoder) gone(pid int) {
	t := d.tasks.known[pid]
	d.tasks.end(pid, d.stats.Lines)
	if t != nil {
		d.abandon(t)
	}
}

// killed counts a daemon that was killed.
func (d *decoder) killed(pid int) {
	t := d.tasks.known[pid]
	if t == nil || !t.inside || t.process.pid != pid {
		return
	}
	t.process.killed = true
	if t.process.leftBehind() {
		d.stats.KilledDaemons++
	}
}

func (d *decoder) abandon(t *task) {
	p := t.suspended
	d.forget(t)
	if p != nil && p.text != nil {
		c := p.call
		d.finish(&c, append(p.text, ") = ?"...), p.text)
	}
}

// close reports the calls that have not returned at the end of the trace.
func (d *decoder) close() {
	for _, t := range d.tasks.known {
		d.settle(t, line{})
		d.abandon(t)
		if t.inside {
			d.stats.Alive++
		}
	}
	d.exposeWaiting()
}

func (d *decoder) unparsed(b []byte) {
	if d.stats.Unparsed++; d.stats.Unparsed == 1 {
		d.stats.Sample = string(b[:min(len(b), maxSample)])
	}
}

// emit completes an event and passes it on.
func (d *decoder) emit(c *call, e Event) {
	e = d.completed(c, e)
	if c.doubtful {
		c.task.doubtful = &e
		return
	}
	d.pass(e)
}

// completed returns an event with the common fields.
func (d *decoder) completed(c *call, e Event) Event {
	e.At = c.at
	e.Time, e.Duration, e.PID = c.time, c.result.duration, c.task.pid
	p := c.task.process
	e.Main, e.Lineage, e.Daemon = p.pid == d.tasks.root, p.lineage, p.daemonised()
	e.Origins, e.Thread, e.Fed, e.Within, e.Program = p.origins, c.task.born, p.fed, p.within, p.program
	if p.lookup {
		e.Program = SessionLookup
	}
	e.Syscall, e.Result, e.Errno, e.Refused = c.Name, c.result.value, c.result.errno, c.result.refused
	if e.Detail == "" {
		e.Detail = c.detail()
	}
	if d.cfg.Alias != "" {
		for _, name := range []*string{&e.Path, &e.Asked, &e.Target, &e.Dir} {
			if rest, ok := places.Rest(*name, d.cfg.Alias); ok {
				*name = path.Join(d.cfg.Home, rest)
			}
		}
	}
	return e
}

// pass passes a complete event on.
func (d *decoder) pass(e Event) {
	d.stats.Events++
	e.Seq = d.stats.Events
	d.sink(e)
}

// blind reports a call whose arguments the tracer could not read, unless the kernel
// could not either (EFAULT), or the process was killed and has no memory left to
// read.
func (d *decoder) blind(c *call) bool {
	if c.result.errno == "EFAULT" || c.unreturned() {
		return false
	}
	d.stats.Blinded++
	d.emit(c, Event{Op: OpEvade, Blinded: true})
	return true
}

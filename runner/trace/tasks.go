package trace

// task is a thread, by the tracer's number.
type task struct {
	pid     int
	process *process
	// born is the position at which the thread was started; zero for the first
	// one of a process.
	born Position
	// inside: in the server's tree; sure: a clone or an execve has confirmed it.
	inside, sure bool
	// since is the line at which the task was first seen.
	since     uint64
	fs        *filesystem
	suspended *suspended
	// doubtful is the event of its last call, if that is doubtful; nil otherwise.
	doubtful *Event
}

// filesystem is the state that CLONE_FS shares.
type filesystem struct {
	cwd string // "" while unknown
}

// tasks is the process tree. The server's part of it begins with the first
// successful execve of something other than the shim, and grows by clone.
type tasks struct {
	known map[int]*task
	// cloning has the tasks in clone, fork or vfork.
	cloning map[int]*task
	// ended maps pids to the line at which they ended.
	ended recent[int, uint64]
	// nested: some process has its own PID namespace.
	nested bool
	// root is the process in which the server began; 0 before.
	root int
}

func newTasks() tasks {
	return tasks{known: map[int]*task{}, cloning: map[int]*task{}, ended: newRecent[int, uint64](maxTasks)}
}

// task returns the task of a pid. A child may be seen before the clone that made
// it has returned: then its parent is among the cloning tasks.
func (d *decoder) task(pid int) *task {
	if t := d.tasks.known[pid]; t != nil {
		return t
	}
	t := &task{pid: pid, since: d.stats.Lines, fs: &filesystem{}}
	t.inside = d.tasks.root != 0
	outside, threads := 0, 0
	parents, directories := map[*process]bool{}, map[string]bool{}
	for _, parent := range d.tasks.cloning {
		if !parent.inside {
			outside++
		}
		if parent.suspended.thread {
			threads++
		}
		directories[parent.fs.cwd] = true
		t.fs.cwd = parent.fs.cwd
		parents[parent.process] = true
	}
	if outside > 0 && outside == len(d.tasks.cloning) {
		t.inside = false // else, when in doubt, it is the server's
	}
	if len(directories) > 1 {
		t.fs.cwd = ""
	}
	d.guess(t, parents, threads > 0 && threads == len(d.tasks.cloning))
	if len(d.tasks.known) >= maxTasks {
		d.stats.Dropped++
		return t
	}
	d.tasks.known[pid] = t
	return t
}

func (ts *tasks) end(pid int, line uint64) {
	if t := ts.known[pid]; t != nil && t.process.pid == pid { // the leader ends last
		t.process.end()
	}
	delete(ts.known, pid)
	delete(ts.cloning, pid)
	ts.ended.put(pid, line)
}

// nameless reports whether a clone's result is a number of the caller's own
// namespace: the child ended before the tracer could translate it.
func (ts *tasks) nameless(p *process, r returned) bool {
	translated := int64(r.pid) != r.value
	p.nested, ts.nested = p.nested || translated, ts.nested || translated
	return p.nested && !translated
}

// cloned records the child of a clone, fork or vfork.
func (d *decoder) cloned(c *call) {
	pid := c.result.pid
	if c.failed() || pid <= 0 || d.tasks.nameless(c.task.process, c.result) {
		return
	}
	t := d.tasks.known[pid]
	if t == nil || t.since < c.number { // new, or a pid used again
		if ended, ok := d.tasks.ended.get(pid); ok && ended > c.number {
			return // it ended before its parent's clone returned
		}
		delete(d.tasks.known, pid)
		t = d.task(pid)
		t.fs.cwd = ""
	}
	if !t.sure {
		t.inside, t.sure = c.task.inside, true
	}
	arguments := c.arg(0)
	for _, a := range c.args {
		if flags, ok := cutFlags(a); ok {
			arguments = flags
		}
	}
	if hasFlag(arguments, "CLONE_THREAD") {
		t.process, t.born = c.task.process, c.at
	} else {
		d.forked(t, c)
	}
	switch {
	case hasFlag(arguments, "CLONE_FS"):
		t.fs = c.task.fs
	case t.fs.cwd == "":
		t.fs = &filesystem{cwd: c.task.fs.cwd}
	}
}

// forked records a process that a clone made, and its number in the namespace
// that they share.
func (d *decoder) forked(t *task, c *call) {
	t.born = Position{}
	if t.process.pid != t.pid { // taken for a thread
		t.process = &process{pid: t.pid}
	}
	t.process.nested = t.process.nested || c.task.process.nested
	if d.tasks.nested {
		t.process.number = int(c.result.value)
	}
	t.process.startedBy(c.task.process, c.at, d.tasks.root)
	d.feeds.workers = d.feeds.workers || len(t.process.origins) > 0
}

// cutFlags returns the flags argument of clone ("flags=A|B") or clone3 ("{flags=A|B, ...}").
func cutFlags(arg []byte) ([]byte, bool) {
	if f := field(arg, "flags"); f != nil {
		return f, true
	}
	const name = "flags="
	if len(arg) > len(name) && string(arg[:len(name)]) == name {
		return arg[len(name):], true
	}
	return nil, false
}

// supersede follows an execve by a thread that is not the leader: the thread
// takes over the leader's pid, and all others are gone.
func (d *decoder) supersede(l line) {
	thread, leader := d.tasks.known[l.by], d.task(l.pid)
	d.forget(leader)
	if thread == nil {
		return
	}
	leader.inside, leader.fs = leader.inside || thread.inside, thread.fs
	leader.suspended, thread.suspended = thread.suspended, nil
	d.tasks.end(l.by, d.stats.Lines)
	if leader.suspended != nil {
		leader.suspended.replaced = true
	}
}

// recent is a bounded map that forgets the older half of its entries when it
// is full.
type recent[K comparable, V any] struct {
	half           int
	newest, oldest map[K]V
}

func newRecent[K comparable, V any](size int) recent[K, V] {
	return recent[K, V]{half: size / 2, newest: map[K]V{}}
}

func (r *recent[K, V]) get(key K) (V, bool) {
	if v, ok := r.newest[key]; ok {
		return v, true
	}
	v, ok := r.oldest[key]
	return v, ok
}

func (r *recent[K, V]) put(key K, value V) {
	if len(r.newest) >= r.half {
		r.newest, r.oldest = map[K]V{}, r.newest
	}
	r.newest[key] = value
}

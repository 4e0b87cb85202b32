package trace

import (
	"bytes"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// send handles every call that writes bytes to a descriptor.
func (d *decoder) send(c *call) {
	_, decor := descriptor(c.arg(0))
	d.forge(c, nil, decor)
	if inode := d.stream(decor); inode != 0 {
		d.written(c, inode)
		d.tells(c, decor)
		return
	}
	if d.carries(decor) {
		d.countSent(c)
		return
	}
	if isSocket(decor) {
		d.tells(c, decor)
		d.sendTo(c, decor)
		return
	}
	if name, ok := storage(decor); ok {
		d.store(c, name)
		return
	}
	d.unseen(c, decor)
}

// storage returns the file that a descriptor's decoration names, unless it is a
// device ("/dev/null<char 1:3>").
func storage(decor []byte) (name string, ok bool) {
	if bytes.IndexByte(decor, '<') >= 0 {
		return "", false
	}
	return filePath(decor)
}

// store makes the event of bytes that were written to a file.
func (d *decoder) store(c *call, name string) {
	size := c.result.value
	if c.unreturned() {
		size = MaxData // all that is known of it
	} else if c.failed() || size <= 0 {
		return
	}
	if d.numberOf(c.task.process) != 0 && d.foreignMemory(c, name, "") { // it may have come as a descriptor
		d.emit(c, Event{Op: OpEvade, Path: ForeignMemory})
		return
	}
	for _, m := range messages(c) {
		if m.blinded {
			d.blind(c)
		}
		d.emit(c, Event{Op: OpStore, Path: d.own(c, name, ""), Size: c.result.value, Data: m.within(size), Cut: m.cut})
	}
}

// within returns the part of a message that was moved.
func (m message) within(size int64) []byte {
	return m.data[:min(int64(len(m.data)), max(0, size))]
}

// unseen reports bytes that went through an unknown descriptor and that strace
// could not read.
func (d *decoder) unseen(c *call, decor []byte) {
	if decor != nil || c.failed() || c.result.value <= 0 {
		return
	}
	for _, m := range messages(c) {
		if m.blinded {
			d.blind(c)
			return
		}
	}
}

// receive handles every call that reads bytes from a descriptor.
func (d *decoder) receive(c *call) {
	_, decor := descriptor(c.arg(0))
	d.forge(c, decor, nil)
	if inode := d.stream(decor); inode != 0 {
		// read of 0 bytes is no end of file.
		d.read(c, inode, c.Name == "read" && string(c.arg(2)) == "0")
		d.noteFed(c, decor)
		return
	}
	if d.carries(decor) {
		d.countReceived(c)
		return
	}
	if isSocket(decor) && !c.failed() && c.result.value > 0 {
		d.noteFed(c, decor)
		d.passed(c)
		d.receiveFrom(c, decor)
		return
	}
	d.load(c, decor)
	d.unseen(c, decor)
}

// loads reports whether the first descriptor in the text of a call is a file that
// Config.Loads selects.
func (d *decoder) loads(text []byte) bool {
	_, decor, _ := bytes.Cut(text, []byte("<"))
	name, _, ok := bytes.Cut(decor, []byte(">"))
	return ok && d.cfg.Loads != nil && d.cfg.Loads(string(name))
}

// load makes the event of bytes read from a file that Config.Loads selects.
func (d *decoder) load(c *call, decor []byte) {
	if d.cfg.Loads == nil || c.failed() || c.result.value == 0 {
		return
	}
	if name, ok := storage(decor); ok && d.cfg.Loads(name) {
		d.emit(c, Event{Op: OpLoad, Path: d.own(c, name, "")})
	}
}

// passed makes events of the files that came as descriptors over a unix socket
// (SCM_RIGHTS, unix(7)): the receiver can read them without an open.
func (d *decoder) passed(c *call) {
	if !bytes.Contains(c.text, []byte("SCM_RIGHTS")) {
		return
	}
	for _, h := range headers(c) {
		for _, control := range elements(field(h, "msg_control")) {
			for _, arg := range elements(field(control, "cmsg_data")) {
				number, decor := descriptor(arg)
				if name, ok := storage(decor); ok {
					d.keep(c.task.process, int(number), name)
					e := Event{Op: OpRead, Path: d.own(c, name, "")}
					if d.foreignMemory(c, name, "") {
						e = Event{Op: OpEvade, Path: ForeignMemory}
					}
					d.emit(c, e)
				}
			}
		}
	}
}

// headers returns each struct msghdr of a call.
func headers(c *call) [][]byte {
	switch {
	case c.takes(syscalls.Message, syscalls.MessageOut):
		return [][]byte{c.arg(1)}
	case c.takes(syscalls.Messages, syscalls.MessagesOut):
		var all [][]byte
		for _, e := range elements(c.arg(1)) {
			all = append(all, field(e, "msg_hdr"))
		}
		return all
	}
	return nil
}

// move handles the calls that pass bytes from descriptor to descriptor. The bytes
// are not printed, but the file that they came from is known.
func (d *decoder) move(c *call) {
	source, sink := ends(c)
	d.forge(c, source, sink)
	if c.Name != "tee" { // tee takes nothing out of the pipe
		d.read(c, d.stream(source), false)
	}
	origin, _ := storage(source)
	d.load(c, source)
	if inode := d.stream(source); inode != 0 {
		origin, _ = d.spliced.get(inode)
	}
	moved := message{cut: true, from: origin, size: max(0, c.result.value)}
	if d.carries(source) {
		d.countReceived(c)
	}
	if d.carries(sink) {
		d.countSent(c)
		return
	}
	inode := d.stream(sink)
	if inode == 0 && isSocket(sink) {
		if c.result.errno != "EAGAIN" {
			d.deliver(c, sink, moved)
		}
		return
	}
	if name, ok := storage(sink); ok && !c.failed() && c.result.value > 0 {
		d.emit(c, Event{Op: OpStore, Path: d.own(c, name, ""), From: origin, Size: moved.size, Cut: true})
	}
	if inode != 0 && origin != "" {
		d.spliced.put(inode, origin)
	}
	d.written(c, inode)
}

// ends returns the decorations of the descriptors that a call moves bytes from and to.
func ends(c *call) (source, sink []byte) {
	var from, to []byte
	switch c.Name {
	case "sendfile":
		to, from = c.arg(0), c.arg(1)
	case "splice", "copy_file_range":
		from, to = c.arg(0), c.arg(2)
	case "tee":
		from, to = c.arg(0), c.arg(1)
	case "vmsplice": // in the direction that the end of the pipe allows
		from, to = c.arg(0), c.arg(0)
	}
	_, source = descriptor(from)
	_, sink = descriptor(to)
	return source, sink
}

func (d *decoder) read(c *call, inode uint64, nothing bool) {
	if inode == 0 || inode != d.cfg.Stdin || c.failed() || peeks(c) {
		return
	}
	d.at.In += moved(c)
	if d.stdinRead != nil && c.result.value > 0 {
		d.stdinRead.Store(true)
	}
	if c.result.value == 0 && !nothing {
		d.at.EOF = true
	}
}

// forge counts a call that puts bytes into the pipe of stdin, or takes some out of that of stdout: the server has opened
// its end in /proc/self/fd for the other direction. The bytes count in its position, but not in the runner's.
func (d *decoder) forge(c *call, source, sink []byte) {
	if from, to := pipeInode(source), pipeInode(sink); (from != 0 && from == d.cfg.Stdout || to != 0 && to == d.cfg.Stdin) && !c.failed() && c.result.value > 0 {
		d.stats.Forged++
	}
}

func (d *decoder) written(c *call, inode uint64) {
	if inode != 0 && inode == d.cfg.Stdout && !c.failed() {
		d.at.Out += moved(c)
	}
}

// message holds the data of one send or receive.
type message struct {
	// address as printed; nil when there was none.
	address []byte
	data    []byte
	size    int64 // bytes moved
	from    string
	cut     bool
	blinded bool
}

// messages returns the messages of a send or receive.
func messages(c *call) []message {
	var m message
	switch {
	case c.takes(syscalls.Messages, syscalls.MessagesOut):
		return several(c)
	case c.takes(syscalls.Message, syscalls.MessageOut):
		m = header(c.arg(1))
	case c.takes(syscalls.Vector, syscalls.VectorOut):
		m = vector(c.arg(1))
	default:
		m = buffer(c.arg(1))
		m.address = structure(c.kind(syscalls.SocketAddr, syscalls.SocketAddrOut))
	}
	if !c.failed() {
		m.size = max(0, c.result.value)
	}
	return []message{m}
}

// several returns the messages that one call moved, or may have moved before its process was killed; the first if it failed.
func several(c *call) []message {
	var all []message
	for _, e := range elements(c.arg(1)) {
		if c.unreturned() || int64(len(all)) < max(c.result.value, 1) {
			m := header(field(e, "msg_hdr"))
			if !c.failed() {
				m.size = max(0, integer(field(e, "msg_len")))
			}
			all = append(all, m)
		}
	}
	return all
}

func buffer(arg []byte) message {
	data, kind := text(arg)
	return message{data: data, cut: kind == textCut, blinded: kind == textPointer}
}

func header(msghdr []byte) message {
	m := vector(field(msghdr, "msg_iov"))
	m.address = structure(field(msghdr, "msg_name"))
	m.blinded = m.blinded || bytes.HasPrefix(msghdr, []byte("0x"))
	return m
}

func vector(iov []byte) (m message) {
	m.blinded = bytes.HasPrefix(iov, []byte("0x"))
	for _, e := range elements(iov) {
		part := buffer(field(e, "iov_base"))
		m.data = append(m.data, part.data...)
		m.cut, m.blinded = m.cut || part.cut, m.blinded || part.blinded
	}
	return m
}

// structure returns arg if it is a structure, else nil.
func structure(arg []byte) []byte {
	if len(arg) > 0 && arg[0] == '{' {
		return arg
	}
	return nil
}

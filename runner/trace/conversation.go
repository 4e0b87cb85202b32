package trace

import "bytes"

// send handles every call that writes bytes to a descriptor.
func (d *decoder) send(c *call) {
	_, decor := descriptor(c.arg(0))
	if inode := pipeInode(decor); inode != 0 {
		d.written(c, inode)
		return
	}
	if isSocket(decor) {
		d.sendTo(c, decor)
		return
	}
	d.unseen(c, decor)
}

// unseen reports bytes that went through a descriptor of which strace could say
// neither what it is nor what the bytes are.
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
	if inode := pipeInode(decor); inode != 0 {
		// read of 0 bytes is no end of file.
		d.read(c, inode, c.name == "read" && string(c.arg(2)) == "0")
		return
	}
	if isSocket(decor) && !c.failed() && c.result.value > 0 {
		d.receiveFrom(c, decor)
		return
	}
	d.unseen(c, decor)
}

// move handles the calls that pass bytes from descriptor to descriptor.
func (d *decoder) move(c *call) {
	var from, to []byte
	switch c.name {
	case "sendfile", "sendfile64":
		to, from = c.arg(0), c.arg(1)
	case "splice":
		from, to = c.arg(0), c.arg(2)
	case "tee": // takes nothing out of the pipe
		to = c.arg(1)
	case "vmsplice": // in the direction that the end of the pipe allows
		from, to = c.arg(0), c.arg(0)
	}
	_, source := descriptor(from)
	d.read(c, pipeInode(source), false)
	_, sink := descriptor(to)
	if isSocket(sink) {
		if c.result.errno != "EAGAIN" {
			d.deliver(c, sink, message{cut: true}) // of the bytes nothing is printed
		}
		return
	}
	d.written(c, pipeInode(sink))
}

func (d *decoder) read(c *call, inode uint64, nothing bool) {
	if inode == 0 || inode != d.cfg.Stdin || c.failed() {
		return
	}
	d.at.In += c.result.value
	if c.result.value == 0 && !nothing {
		d.at.EOF = true
	}
}

func (d *decoder) written(c *call, inode uint64) {
	if inode != 0 && inode == d.cfg.Stdout && !c.failed() {
		d.at.Out += c.result.value
	}
}

// message is what one send or receive carried.
type message struct {
	// address as printed; nil when there was none.
	address []byte
	data    []byte
	cut     bool
	blinded bool
}

// messages takes the arguments of a send or receive apart.
func messages(c *call) []message {
	switch c.name {
	case "sendto", "recvfrom":
		m := buffer(c.arg(1))
		m.address = structure(c.arg(4))
		return []message{m}
	case "sendmsg", "recvmsg":
		return []message{header(c.arg(1))}
	case "sendmmsg", "recvmmsg":
		var all []message
		for _, e := range elements(c.arg(1)) {
			if int64(len(all)) < max(c.result.value, 1) {
				all = append(all, header(field(e, "msg_hdr")))
			}
		}
		return all
	case "writev", "readv", "pwritev", "pwritev2", "preadv", "preadv2":
		return []message{vector(c.arg(1))}
	}
	return []message{buffer(c.arg(1))}
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

// structure is arg if it was decoded as one, else nil.
func structure(arg []byte) []byte {
	if len(arg) > 0 && arg[0] == '{' {
		return arg
	}
	return nil
}

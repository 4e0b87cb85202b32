package ptrace

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// maxCall bounds the printed arguments of a call, in bytes: the rest of an array
// is left out.
const maxCall = 1 << 20

// peek copies memory of a task, up to where it cannot be read, and notes that it cannot.
func (p *printer) peek(k *task, addr uint64, into []byte) int {
	n := peek(k.pid, addr, into)
	p.unread = p.unread || n < len(into)
	return n
}

// string reads a string that ends with 0. cut: there is more of it; ok is false
// if it cannot be read. The string is valid until the next one is read.
func (p *printer) string(k *task, addr uint64) (text []byte, cut, ok bool) {
	if addr == 0 {
		return nil, false, false
	}
	if addr == p.at {
		return p.text, p.cut, true
	}
	text = p.text[:0]
	for len(text) <= maxString {
		// Up to the end of the page: the next page may not be mapped.
		chunk := min(maxString+1-len(text), int(pageSize-(addr+uint64(len(text)))%pageSize)) //nolint:gosec // not negative
		start := len(text)
		n := p.peek(k, addr+uint64(start), text[start:start+chunk])
		text = text[:start+n]
		if end := bytes.IndexByte(text[start:], 0); end >= 0 {
			p.at, p.text, p.cut = addr, text[:start+end], false
			return p.text, false, true
		}
		if n < chunk {
			return nil, false, false
		}
	}
	p.at, p.text, p.cut = addr, text[:maxString], true
	return p.text, true, true
}

// quoted appends a string that ends with 0.
func (p *printer) quoted(b []byte, k *task, addr uint64) []byte {
	text, cut, ok := p.string(k, addr)
	if !ok {
		return appendPointer(b, addr)
	}
	return appendQuoted(b, text, cut)
}

// buffer appends the beginning of some bytes.
func (p *printer) buffer(b []byte, k *task, addr, size uint64) []byte {
	if addr == 0 {
		return append(b, "NULL"...)
	}
	n := int(min(size, maxString, uint64(p.payload))) //nolint:gosec // not negative
	part := p.memory[:n]
	if p.peek(k, addr, part) < n {
		return appendPointer(b, addr)
	}
	p.payload -= n
	return appendQuoted(b, part, uint64(n) < size)
}

// strings appends an array of strings that ends with NULL.
func (p *printer) strings(b []byte, k *task, addr uint64) []byte {
	var raw [8]byte
	if addr == 0 {
		return append(b, "NULL"...)
	}
	if p.peek(k, addr, raw[:]) < len(raw) {
		return appendPointer(b, addr)
	}
	b = append(b, '[')
	start := len(b)
	for i := uint64(0); ; i++ {
		if p.peek(k, addr+8*i, raw[:]) < len(raw) {
			b = append(b, "..."...)
			break
		}
		pointer := binary.NativeEndian.Uint64(raw[:])
		if pointer == 0 {
			break
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		if i == maxStrings || len(b)-start > maxCall {
			b = append(b, "..."...)
			break
		}
		b = p.quoted(b, k, pointer)
	}
	return append(b, ']')
}

// address appends struct sockaddr.
func (p *printer) address(b []byte, k *task, addr, size uint64) []byte {
	if addr == 0 {
		return append(b, "NULL"...)
	}
	n := int(min(size&0xffffffff, sockaddrSize)) //nolint:gosec // not negative
	raw := p.memory[:n]
	if n < 2 || p.peek(k, addr, raw) < n {
		return appendPointer(b, addr)
	}
	return appendSockaddr(b, raw)
}

// vector appends an array of struct iovec (readv(2)). limit counts the used bytes of
// those that it points to; -1 for all.
func (p *printer) vector(b []byte, k *task, addr, count uint64, limit int64) []byte {
	var raw [16]byte
	if count > 0 && p.peek(k, addr, raw[:]) < len(raw) {
		return appendPointer(b, addr)
	}
	b = append(b, '[')
	for i := range count {
		if i > 0 {
			b = append(b, ", "...)
		}
		if i >= maxElements && p.payload <= 0 || i == maxStrings || p.peek(k, addr+16*i, raw[:]) < len(raw) {
			b = append(b, "..."...)
			break
		}
		base, size := binary.NativeEndian.Uint64(raw[:]), binary.NativeEndian.Uint64(raw[8:])
		used := size
		if limit >= 0 {
			used = min(size, uint64(limit))
			limit -= int64(used) //nolint:gosec // at most limit
		}
		b = p.buffer(append(b, "{iov_base="...), k, base, used)
		b = strconv.AppendUint(append(b, ", iov_len="...), size, 10)
		b = append(b, '}')
	}
	return append(b, ']')
}

// The sizes in bytes of struct msghdr and struct mmsghdr on 64-bit machines (recvmsg(2)).
const (
	headerSize  = 56
	headersSize = 64
)

// header appends struct msghdr.
func (p *printer) header(b []byte, k *task, addr uint64, limit int64) []byte {
	var raw [headerSize]byte
	if p.peek(k, addr, raw[:]) < len(raw) {
		return appendPointer(b, addr)
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(raw[8*i:]) }
	name, size := word(0), word(1)&0xffffffff
	if size == 0 && name != 0 {
		b = appendPointer(append(b, "{msg_name="...), name)
	} else {
		b = p.address(append(b, "{msg_name="...), k, name, size)
	}
	b = strconv.AppendUint(append(b, ", msg_namelen="...), size, 10)
	b = p.vector(append(b, ", msg_iov="...), k, word(2), word(3), limit)
	b = strconv.AppendUint(append(b, ", msg_iovlen="...), word(3), 10)
	b = strconv.AppendUint(append(b, ", msg_controllen="...), word(5), 10)
	b = appendHex(append(b, ", msg_flags="...), word(6)&0xffffffff)
	return append(b, '}')
}

// headers appends an array of struct mmsghdr (sendmmsg(2)). received: each has
// the length of the message that was received.
func (p *printer) headers(b []byte, k *task, addr, count uint64, received bool) []byte {
	b = append(b, '[')
	count &= 0xffffffff
	for i := range count {
		if i > 0 {
			b = append(b, ", "...)
		}
		at := addr + headersSize*i
		var raw [4]byte
		if i == maxElements || p.peek(k, at+headerSize, raw[:]) < len(raw) {
			b = append(b, "..."...)
			break
		}
		length, limit := binary.NativeEndian.Uint32(raw[:]), int64(-1)
		if received {
			limit = int64(length)
		}
		b = p.header(append(b, "{msg_hdr="...), k, at, limit)
		if received {
			b = strconv.AppendUint(append(b, ", msg_len="...), uint64(length), 10)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// out appends what a call has passed out.
func (p *printer) out(b []byte, k *task, i int, r returned) []byte {
	addr := k.arguments[i]
	if r.failed {
		return appendPointer(b, addr)
	}
	switch k.call.Args[i] {
	case syscalls.BufferOut:
		return p.buffer(b, k, addr, uint64(r.value)) //nolint:gosec // not negative
	case syscalls.VectorOut:
		return p.vector(b, k, addr, k.arguments[i+1], r.value)
	case syscalls.MessageOut:
		return p.header(b, k, addr, r.value)
	case syscalls.MessagesOut:
		return p.headers(b, k, addr, uint64(r.value), true) //nolint:gosec // not negative
	case syscalls.SocketAddrOut:
		var raw [4]byte
		if p.peek(k, k.arguments[i+1], raw[:]) < len(raw) {
			return appendPointer(b, addr)
		}
		if size := binary.NativeEndian.Uint32(raw[:]); size > 0 {
			return p.address(b, k, addr, uint64(size))
		}
	case syscalls.PairOut:
		return p.pair(b, k, addr)
	}
	return appendPointer(b, addr)
}

// pair appends the descriptors of a socketpair.
func (p *printer) pair(b []byte, k *task, addr uint64) []byte {
	var raw [8]byte
	if p.peek(k, addr, raw[:]) < len(raw) {
		return appendPointer(b, addr)
	}
	b = p.names.append(append(b, '['), k, int(int32(binary.NativeEndian.Uint32(raw[:]))))                      //nolint:gosec // an int of the kernel's
	return append(p.names.append(append(b, ", "...), k, int(int32(binary.NativeEndian.Uint32(raw[4:])))), ']') //nolint:gosec // an int of the kernel's
}

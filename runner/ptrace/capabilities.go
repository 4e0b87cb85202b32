package ptrace

import "encoding/binary"

// capabilities appends an argument of capset(2): the header as it is, and each set
// as one mask of its low and high half.
func (p *printer) capabilities(b []byte, k *task, i int) []byte {
	var raw [24]byte
	size := len(raw)
	if i == 0 {
		size = 8
	}
	addr := k.arguments[i]
	if p.peek(k, addr, raw[:size]) < size {
		return appendPointer(b, addr)
	}
	word := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(raw[4*i:])) }
	if i == 0 {
		b = appendHex(append(b, "{version="...), word(0))
		b = appendHex(append(b, ", pid="...), word(1))
		return append(b, '}')
	}
	for j, name := range []string{"{effective=", ", permitted=", ", inheritable="} {
		b = appendHex(append(b, name...), word(j)|word(j+3)<<32)
	}
	return append(b, '}')
}

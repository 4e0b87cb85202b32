package ptrace

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// printer prints the arguments and results of calls.
type printer struct {
	names *namer
	tasks map[int]*task
	// memory reads the task's.
	memory []byte
	// text is the string at the address of it, read ahead; at is 0 for none.
	at   uint64
	text []byte
	cut  bool
	// payload counts the bytes of the call that may still be printed.
	payload int
	// unread: not all of the memory that the arguments point to could be read.
	unread bool
	errnos map[syscall.Errno]string
}

func newPrinter(tasks map[int]*task) *printer {
	return &printer{names: newNamer(), tasks: tasks, memory: make([]byte, maxString+1), text: make([]byte, 0, maxString+1), errnos: map[syscall.Errno]string{}}
}

// returned holds the result of a call.
type returned struct {
	value   int64
	failed  bool
	refused bool
}

// enters returns how many arguments are known when a call is entered.
func enters(args syscalls.Args) int {
	for i, a := range args {
		if a.Out() {
			return i
		}
	}
	return len(args)
}

// arguments appends the arguments up to the given number that are not printed yet,
// and returns how many are printed.
func (p *printer) arguments(b []byte, k *task, upTo int, r returned) ([]byte, int) {
	p.at, p.payload, p.unread = 0, maxPayload, false
	all := k.call.Args
	i := k.printed
	for ; i < upTo; i++ {
		if all[i] == syscalls.Octal && i > 0 && all[i-1] == syscalls.OpenFlags && k.arguments[i-1]&(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY) == 0 {
			continue // makes no file: the mode is garbage
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		if all[i].Out() {
			b = p.out(b, k, i, r)
		} else {
			b = p.argument(b, k, i)
		}
	}
	return b, i
}

// argument appends an argument that is passed in.
func (p *printer) argument(b []byte, k *task, i int) []byte {
	v := k.arguments[i]
	word := int(int32(v)) //nolint:gosec // an int of the kernel's
	switch kind := k.call.Args[i]; kind {
	case syscalls.Decimal:
		return strconv.AppendInt(b, int64(word), 10)
	case syscalls.Long:
		return strconv.AppendInt(b, int64(v), 10) //nolint:gosec // as the kernel takes it
	case syscalls.Octal:
		return strconv.AppendUint(append(b, '0'), v&0o7777777, 8)
	case syscalls.Pointer:
		return appendPointer(b, v)
	case syscalls.Descriptor:
		return p.names.append(b, k, word)
	case syscalls.Directory:
		text, _, ok := p.string(k, k.arguments[i+1])
		return p.names.directory(b, k, word, ok && len(text) > 0 && text[0] == '/')
	case syscalls.Process:
		return p.pid(b, k, word)
	case syscalls.Signal:
		return appendSignal(b, word)
	default:
		return p.pointed(b, k, i, kind)
	}
}

func (p *printer) pointed(b []byte, k *task, i int, kind syscalls.Arg) []byte {
	v := k.arguments[i]
	switch kind {
	case syscalls.Path, syscalls.Entry, syscalls.Text:
		return p.quoted(b, k, v)
	case syscalls.Buffer:
		return p.buffer(b, k, v, k.arguments[i+1])
	case syscalls.Vector:
		return p.vector(b, k, v, k.arguments[i+1], -1)
	case syscalls.Message:
		return p.header(b, k, v, -1)
	case syscalls.Messages:
		return p.headers(b, k, v, k.arguments[i+1], false)
	case syscalls.SocketAddr:
		return p.address(b, k, v, k.arguments[i+1])
	case syscalls.Strings:
		return p.strings(b, k, v)
	case syscalls.Capabilities:
		return p.capabilities(b, k, i)
	case syscalls.Times:
		return p.times(b, k, v)
	case syscalls.OpenHow:
		return p.how(b, k, v)
	case syscalls.CloneArgs:
		return p.clone3(b, k, v)
	default:
		return p.flags(b, k, i, kind)
	}
}

// flags appends what has names.
func (p *printer) flags(b []byte, k *task, i int, kind syscalls.Arg) []byte {
	v := k.arguments[i]
	switch kind {
	case syscalls.OpenFlags:
		return appendOpen(b, v&0xffffffff)
	case syscalls.CloneFlags:
		return appendClone(b, k.arguments[0], k.arguments[1])
	case syscalls.NamespaceFlags:
		return appendBits(b, v&0xffffffff, namespaceBits, true)
	case syscalls.MapFlags:
		b = appendName(b, v&unix.MAP_TYPE, mapTypes)
		if v&^unix.MAP_TYPE == 0 {
			return b
		}
		return appendBits(b, v&^unix.MAP_TYPE, mapBits, false)
	case syscalls.SocketType:
		b = appendName(b, v&0xf, socketTypes)
		if v&0xfffffff0 == 0 {
			return b
		}
		return appendBits(b, v&0xfffffff0, socketBits, false)
	case syscalls.PrctlValue:
		return p.option(b, k)
	}
	if names, ok := bitNames[kind]; ok {
		return appendBits(b, v&0xffffffff, names, true)
	}
	if names, ok := numberNames[kind]; ok {
		return appendName(b, v&0xffffffff, names)
	}
	return appendHex(b, v)
}

// The arguments that are plain flags, and plain numbers.
var (
	bitNames = map[syscalls.Arg][]named{
		syscalls.RenameFlags: renameBits, syscalls.AtFlags: atBits, syscalls.Protection: protectionBits,
		syscalls.SeccompFlags: seccompBits, syscalls.MemfdFlags: memfdBits, syscalls.MessageFlags: messageBits,
	}
	numberNames = map[syscalls.Arg][]named{
		syscalls.Domain: domains, syscalls.PrctlOption: prctlOptions, syscalls.SeccompOperation: seccompOperations,
		syscalls.PtraceRequest: ptraceRequests, syscalls.KeyctlOperation: keyctlOperations,
	}
)

// option appends the first value of a prctl, which means what the option says.
func (p *printer) option(b []byte, k *task) []byte {
	v := k.arguments[1]
	switch int32(k.arguments[0]) { //nolint:gosec // an int of the kernel's
	case unix.PR_SET_DUMPABLE:
		return appendName(b, v, dumpable)
	case unix.PR_SET_SECCOMP:
		return appendName(b, v, seccompModes)
	case unix.PR_SET_NAME:
		return p.quoted(b, k, v)
	case unix.PR_SET_SYSCALL_USER_DISPATCH:
		return appendName(b, v, dispatch)
	}
	return appendHex(b, v)
}

// result appends what follows the "=".
func (p *printer) result(b []byte, k *task, r returned) []byte {
	if !r.failed {
		return p.success(b, k, r.value)
	}
	errno := syscall.Errno(-r.value)
	if words, ok := restarts[errno]; ok {
		return append(b, words...)
	}
	name, ok := p.errnos[errno]
	if !ok {
		name = "(errno " + strconv.Itoa(int(errno)) + ")"
		if known := unix.ErrnoName(errno); known != "" {
			words := errno.Error()
			name = known + " (" + strings.ToUpper(words[:1]) + words[1:] + ")"
		}
		p.errnos[errno] = name
	}
	b = append(append(b, "-1 "...), name...)
	if r.refused {
		b = append(b, " (INJECTED)"...)
	}
	return b
}

// restarts are the results that the kernel gives only to tracers: the call was
// interrupted, and may be made again (linux/errno.h).
var restarts = map[syscall.Errno]string{
	512: "? ERESTARTSYS (To be restarted if SA_RESTART is set)",
	513: "? ERESTARTNOINTR (To be restarted)",
	514: "? ERESTARTNOHAND (To be restarted if no handler)",
	516: "? ERESTART_RESTARTBLOCK (Interrupted by signal)",
}

func (p *printer) success(b []byte, k *task, value int64) []byte {
	switch k.call.Returns {
	case syscalls.Address:
		return appendHex(b, uint64(value)) //nolint:gosec // an address
	case syscalls.NewTask:
		b = strconv.AppendInt(b, value, 10)
		if k.child != 0 && int64(k.child) != value {
			b = appendTranslated(b, k.child)
		}
		return b
	case syscalls.NewFile:
		return p.names.append(b, k, int(value))
	}
	return strconv.AppendInt(b, value, 10)
}

// appendTranslated appends a pid of our own namespace, as strace does.
func appendTranslated(b []byte, pid int) []byte {
	b = strconv.AppendInt(append(b, " /* "...), int64(pid), 10)
	return append(b, " in strace's PID NS */"...)
}

func appendOpen(b []byte, v uint64) []byte {
	b = appendName(b, v&unix.O_ACCMODE, accessModes)
	if v&^unix.O_ACCMODE == 0 {
		return b
	}
	return appendBits(b, v&^unix.O_ACCMODE, openBits, false)
}

// appendClone appends the first two arguments of clone(2); the lowest byte of
// the flags is the signal of the child's end.
func appendClone(b []byte, flags, stack uint64) []byte {
	b = appendPointer(append(b, "child_stack="...), stack)
	b = append(b, ", flags="...)
	signal := flags & 0xff
	if flags &^= 0xff; flags != 0 {
		b = appendBits(b, flags&0xffffffff, cloneBits, true)
		if signal == 0 {
			return b
		}
		b = append(b, '|')
	}
	return appendSignal(b, int(signal))
}

// how appends struct open_how of openat2(2).
func (p *printer) how(b []byte, k *task, addr uint64) []byte {
	var raw [24]byte
	if p.peek(k, addr, raw[:]) < len(raw) {
		return appendPointer(b, addr)
	}
	b = appendOpen(append(b, "{flags="...), binary.NativeEndian.Uint64(raw[:]))
	b = strconv.AppendUint(append(b, ", mode=0"...), binary.NativeEndian.Uint64(raw[8:]), 8)
	b = appendHex(append(b, ", resolve="...), binary.NativeEndian.Uint64(raw[16:]))
	return append(b, '}')
}

// times appends the two times that utimensat(2) gives a file.
func (p *printer) times(b []byte, k *task, addr uint64) []byte {
	var raw [32]byte
	if p.peek(k, addr, raw[:]) < len(raw) {
		return appendPointer(b, addr)
	}
	for i := range 2 {
		seconds, fraction := binary.NativeEndian.Uint64(raw[16*i:]), binary.NativeEndian.Uint64(raw[16*i+8:])
		b = append(b, "[ "[i])
		switch fraction {
		case unix.UTIME_NOW:
			b = append(b, "UTIME_NOW"...)
		case unix.UTIME_OMIT:
			b = append(b, "UTIME_OMIT"...)
		default:
			b = fmt.Appendf(b, "{tv_sec=%d, tv_nsec=%d}", int64(seconds), fraction) //nolint:gosec // as the kernel takes it
		}
		b = append(b, ",]"[i])
	}
	return b
}

// clone3 appends struct clone_args of clone(2).
func (p *printer) clone3(b []byte, k *task, addr uint64) []byte {
	var raw [64]byte
	if p.peek(k, addr, raw[:]) < len(raw) {
		return appendPointer(b, addr)
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(raw[8*i:]) }
	b = appendBits(append(b, "{flags="...), word(0), namespaceBits[1:], true)
	b = appendSignal(append(b, ", exit_signal="...), int(word(4)&0xff))
	b = appendPointer(append(b, ", stack="...), word(5))
	b = appendHex(append(b, ", stack_size="...), word(6))
	return append(b, '}')
}

package ptrace

import (
	"encoding/binary"
	"net/netip"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The protocols whose name is not made of their domain's (linux/in.h).
var protocols = map[int]string{
	unix.IPPROTO_TCP: "TCP", unix.IPPROTO_UDP: "UDP", unix.IPPROTO_UDPLITE: "UDPLITE",
	unix.IPPROTO_MPTCP: "TCP", unix.IPPROTO_SCTP: "SCTP", unix.IPPROTO_DCCP: "DCCP",
}

// describe names a socket, as strace does. whole: the name will not change, for
// the socket is connected.
func describe(fd int, inode string) (name string, whole bool) {
	domain, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	kind, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	switch domain {
	case unix.AF_INET, unix.AF_INET6:
		return inet(fd, domain, kind, inode)
	case unix.AF_UNIX:
		return local(fd, kind, inode), false
	case unix.AF_NETLINK:
		return "NETLINK:[" + inode + "]", true
	}
	return "socket:[" + inode + "]", true
}

// inet is TCP:[127.0.0.1:80->127.0.0.1:5000], TCPv6:[[::1]:80], UDP:[inode].
func inet(fd, domain, kind int, inode string) (string, bool) {
	protocol, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	name, ok := protocols[protocol]
	switch {
	case kind == unix.SOCK_RAW:
		name = "RAW"
	case !ok:
		name = "PING"
	}
	if domain == unix.AF_INET6 {
		name += "v6"
	}
	ours, theirs := endOf(fd, unix.SYS_GETSOCKNAME), endOf(fd, unix.SYS_GETPEERNAME)
	switch {
	case theirs.IsValid() && theirs.Port() != 0:
		return name + ":[" + ours.String() + "->" + theirs.String() + "]", kind == unix.SOCK_STREAM
	case ours.IsValid() && ours.Port() != 0:
		return name + ":[" + ours.String() + "]", false
	}
	return name + ":[" + inode + "]", false
}

// local is UNIX-STREAM:[inode,"/path"].
func local(fd, kind int, inode string) string {
	name := "UNIX"
	switch kind {
	case unix.SOCK_STREAM:
		name = "UNIX-STREAM"
	case unix.SOCK_DGRAM:
		name = "UNIX-DGRAM"
	case unix.SOCK_SEQPACKET:
		name = "UNIX-SEQPACKET"
	}
	b := append([]byte(name+":["), inode...)
	var raw [sockaddrSize]byte
	if n := nameOf(fd, unix.SYS_GETSOCKNAME, raw[:]); n > 2 {
		b = appendSocketPath(append(b, ','), raw[2:n])
	}
	return string(append(b, ']'))
}

// sockaddrSize is the size of struct sockaddr_storage (socket(7)).
const sockaddrSize = 128

// nameOf is getsockname(2) or getpeername(2), as raw bytes.
func nameOf(fd int, call uintptr, into []byte) int {
	size := uint32(len(into)) //nolint:gosec // sockaddrSize
	_, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&into[0])), uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return 0
	}
	return min(int(size), len(into))
}

func endOf(fd int, call uintptr) netip.AddrPort {
	var raw [sockaddrSize]byte
	a, _ := addrPort(raw[:nameOf(fd, call, raw[:])])
	return a
}

// addrPort reads struct sockaddr_in and sockaddr_in6 (ip(7), ipv6(7)); false for
// others.
func addrPort(raw []byte) (netip.AddrPort, bool) {
	if len(raw) < 8 {
		return netip.AddrPort{}, false
	}
	port := binary.BigEndian.Uint16(raw[2:])
	switch binary.NativeEndian.Uint16(raw) {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[4:8])), port), true
	case unix.AF_INET6:
		if len(raw) >= 24 {
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte(raw[8:24])), port), true
		}
	}
	return netip.AddrPort{}, false
}

// appendSockaddr appends struct sockaddr as strace decodes it.
func appendSockaddr(b, raw []byte) []byte {
	if len(raw) < 2 {
		return append(b, "{}"...)
	}
	family := uint64(binary.NativeEndian.Uint16(raw))
	b = appendName(append(b, "{sa_family="...), family, domains)
	a, isInet := addrPort(raw)
	switch {
	case isInet && family == unix.AF_INET:
		b = strconv.AppendUint(append(b, ", sin_port=htons("...), uint64(a.Port()), 10)
		b = a.Addr().AppendTo(append(b, `), sin_addr=inet_addr("`...))
		b = append(b, `")`...)
	case isInet:
		b = strconv.AppendUint(append(b, ", sin6_port=htons("...), uint64(a.Port()), 10)
		b = a.Addr().AppendTo(append(b, `), inet_pton(AF_INET6, "`...))
		b = append(b, `", &sin6_addr)`...)
	case family == unix.AF_UNIX && len(raw) > 2:
		b = appendSocketPath(append(b, ", sun_path="...), raw[2:])
	case family == unix.AF_NETLINK && len(raw) >= 12:
		b = strconv.AppendUint(append(b, ", nl_pid="...), uint64(binary.NativeEndian.Uint32(raw[4:])), 10)
		b = appendHex(append(b, ", nl_groups="...), uint64(binary.NativeEndian.Uint32(raw[8:])))
	case family == unix.AF_VSOCK && len(raw) >= 12:
		b = appendName(append(b, ", svm_cid="...), uint64(binary.NativeEndian.Uint32(raw[8:])), contextIDs)
		b = appendHex(append(b, ", svm_port="...), uint64(binary.NativeEndian.Uint32(raw[4:])))
	case len(raw) > 2:
		b = appendQuoted(append(b, ", sa_data="...), raw[2:], false)
	}
	return append(b, '}')
}

// contextIDs are the addresses of vsock(7) with names.
var contextIDs = []named{
	{unix.VMADDR_CID_ANY, "VMADDR_CID_ANY"}, {unix.VMADDR_CID_HYPERVISOR, "VMADDR_CID_HYPERVISOR"},
	{unix.VMADDR_CID_LOCAL, "VMADDR_CID_LOCAL"}, {unix.VMADDR_CID_HOST, "VMADDR_CID_HOST"},
}

// appendSocketPath appends the name of a unix socket: a path, which may end with
// a 0, or behind a 0 an abstract name, which may hold any byte (unix(7)).
func appendSocketPath(b, name []byte) []byte {
	if name[0] == 0 {
		return appendQuoted(append(b, '@'), name[1:], false)
	}
	for i, c := range name {
		if c == 0 {
			name = name[:i]
			break
		}
	}
	return appendQuoted(b, name, false)
}

// pidOf returns the process of a pidfd (pidfd_open(2), fdinfo).
func pidOf(tid, fd int) int {
	info, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return 0
	}
	return statusField(info, "\nPid:")
}

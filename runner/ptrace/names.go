package ptrace

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// named is a number or a set of bits, and its name in the headers.
type named struct {
	value uint64
	name  string
}

// The access modes of an open are numbers, its other flags bits. They have the
// order of strace; one of several bits comes before those that are part of it.
var (
	accessModes = []named{{unix.O_RDONLY, "O_RDONLY"}, {unix.O_WRONLY, "O_WRONLY"}, {unix.O_RDWR, "O_RDWR"}, {unix.O_ACCMODE, "O_ACCMODE"}}
	openBits    = []named{
		{unix.O_CREAT, "O_CREAT"}, {unix.O_EXCL, "O_EXCL"}, {unix.O_NOCTTY, "O_NOCTTY"}, {unix.O_TRUNC, "O_TRUNC"},
		{unix.O_APPEND, "O_APPEND"}, {unix.O_NONBLOCK, "O_NONBLOCK"}, {unix.O_SYNC, "O_SYNC"}, {unix.O_ASYNC, "FASYNC"},
		{unix.O_DSYNC, "O_DSYNC"}, {unix.O_DIRECT, "O_DIRECT"}, {largeFile, "O_LARGEFILE"}, {unix.O_NOFOLLOW, "O_NOFOLLOW"},
		{unix.O_NOATIME, "O_NOATIME"}, {unix.O_CLOEXEC, "O_CLOEXEC"}, {unix.O_PATH, "O_PATH"},
		{unix.O_TMPFILE, "O_TMPFILE"}, {unix.O_DIRECTORY, "O_DIRECTORY"},
	}
	cloneBits = []named{
		{unix.CLONE_VM, "CLONE_VM"}, {unix.CLONE_FS, "CLONE_FS"}, {unix.CLONE_FILES, "CLONE_FILES"}, {unix.CLONE_SIGHAND, "CLONE_SIGHAND"},
		{unix.CLONE_PIDFD, "CLONE_PIDFD"}, {unix.CLONE_PTRACE, "CLONE_PTRACE"}, {unix.CLONE_VFORK, "CLONE_VFORK"},
		{unix.CLONE_PARENT, "CLONE_PARENT"}, {unix.CLONE_THREAD, "CLONE_THREAD"}, {unix.CLONE_NEWNS, "CLONE_NEWNS"},
		{unix.CLONE_SYSVSEM, "CLONE_SYSVSEM"}, {unix.CLONE_SETTLS, "CLONE_SETTLS"}, {unix.CLONE_PARENT_SETTID, "CLONE_PARENT_SETTID"},
		{unix.CLONE_CHILD_CLEARTID, "CLONE_CHILD_CLEARTID"}, {unix.CLONE_DETACHED, "CLONE_DETACHED"}, {unix.CLONE_UNTRACED, "CLONE_UNTRACED"},
		{unix.CLONE_CHILD_SETTID, "CLONE_CHILD_SETTID"}, {unix.CLONE_NEWCGROUP, "CLONE_NEWCGROUP"}, {unix.CLONE_NEWUTS, "CLONE_NEWUTS"},
		{unix.CLONE_NEWIPC, "CLONE_NEWIPC"}, {unix.CLONE_NEWUSER, "CLONE_NEWUSER"}, {unix.CLONE_NEWPID, "CLONE_NEWPID"},
		{unix.CLONE_NEWNET, "CLONE_NEWNET"}, {unix.CLONE_IO, "CLONE_IO"}, {unix.CLONE_CLEAR_SIGHAND, "CLONE_CLEAR_SIGHAND"},
		{unix.CLONE_INTO_CGROUP, "CLONE_INTO_CGROUP"},
	}
	// CLONE_NEWTIME lies in the bits in which clone has a signal.
	namespaceBits = append([]named{{unix.CLONE_NEWTIME, "CLONE_NEWTIME"}}, cloneBits...)
	renameBits    = []named{{unix.RENAME_NOREPLACE, "RENAME_NOREPLACE"}, {unix.RENAME_EXCHANGE, "RENAME_EXCHANGE"}, {unix.RENAME_WHITEOUT, "RENAME_WHITEOUT"}}
	atBits        = []named{
		{unix.AT_SYMLINK_NOFOLLOW, "AT_SYMLINK_NOFOLLOW"}, {unix.AT_REMOVEDIR, "AT_REMOVEDIR"},
		{unix.AT_SYMLINK_FOLLOW, "AT_SYMLINK_FOLLOW"}, {unix.AT_EMPTY_PATH, "AT_EMPTY_PATH"},
	}
	protectionBits = []named{{unix.PROT_READ, "PROT_READ"}, {unix.PROT_WRITE, "PROT_WRITE"}, {unix.PROT_EXEC, "PROT_EXEC"}}
	mapTypes       = []named{{unix.MAP_SHARED, "MAP_SHARED"}, {unix.MAP_PRIVATE, "MAP_PRIVATE"}, {unix.MAP_SHARED_VALIDATE, "MAP_SHARED_VALIDATE"}}
	mapBits        = []named{{unix.MAP_FIXED, "MAP_FIXED"}, {unix.MAP_ANONYMOUS, "MAP_ANONYMOUS"}, {unix.MAP_DENYWRITE, "MAP_DENYWRITE"}, {unix.MAP_POPULATE, "MAP_POPULATE"}}
	seccompBits    = []named{
		{unix.SECCOMP_FILTER_FLAG_TSYNC, "SECCOMP_FILTER_FLAG_TSYNC"}, {unix.SECCOMP_FILTER_FLAG_LOG, "SECCOMP_FILTER_FLAG_LOG"},
		{unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, "SECCOMP_FILTER_FLAG_SPEC_ALLOW"},
		{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, "SECCOMP_FILTER_FLAG_NEW_LISTENER"},
		{unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH, "SECCOMP_FILTER_FLAG_TSYNC_ESRCH"},
		{unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"},
	}
	memfdBits = []named{
		{unix.MFD_CLOEXEC, "MFD_CLOEXEC"}, {unix.MFD_ALLOW_SEALING, "MFD_ALLOW_SEALING"}, {unix.MFD_HUGETLB, "MFD_HUGETLB"},
		{unix.MFD_NOEXEC_SEAL, "MFD_NOEXEC_SEAL"}, {unix.MFD_EXEC, "MFD_EXEC"},
	}
	messageBits = []named{
		{unix.MSG_OOB, "MSG_OOB"}, {unix.MSG_PEEK, "MSG_PEEK"}, {unix.MSG_DONTWAIT, "MSG_DONTWAIT"}, {unix.MSG_WAITALL, "MSG_WAITALL"},
		{unix.MSG_NOSIGNAL, "MSG_NOSIGNAL"}, {unix.MSG_MORE, "MSG_MORE"}, {unix.MSG_FASTOPEN, "MSG_FASTOPEN"},
	}
	socketBits = []named{{unix.SOCK_CLOEXEC, "SOCK_CLOEXEC"}, {unix.SOCK_NONBLOCK, "SOCK_NONBLOCK"}}
)

// Numbers with names.
var (
	domains = []named{
		{unix.AF_UNSPEC, "AF_UNSPEC"}, {unix.AF_UNIX, "AF_UNIX"}, {unix.AF_INET, "AF_INET"}, {unix.AF_INET6, "AF_INET6"},
		{unix.AF_NETLINK, "AF_NETLINK"}, {unix.AF_PACKET, "AF_PACKET"}, {unix.AF_VSOCK, "AF_VSOCK"}, {unix.AF_ALG, "AF_ALG"},
		{unix.AF_BLUETOOTH, "AF_BLUETOOTH"}, {unix.AF_CAN, "AF_CAN"}, {unix.AF_TIPC, "AF_TIPC"}, {unix.AF_RDS, "AF_RDS"},
		{unix.AF_KEY, "AF_KEY"}, {unix.AF_XDP, "AF_XDP"}, {unix.AF_SMC, "AF_SMC"}, {unix.AF_KCM, "AF_KCM"}, {unix.AF_QIPCRTR, "AF_QIPCRTR"},
		{unix.AF_AX25, "AF_AX25"}, {unix.AF_IPX, "AF_IPX"}, {unix.AF_APPLETALK, "AF_APPLETALK"}, {unix.AF_X25, "AF_X25"},
		{unix.AF_PPPOX, "AF_PPPOX"}, {unix.AF_LLC, "AF_LLC"}, {unix.AF_NFC, "AF_NFC"}, {unix.AF_RXRPC, "AF_RXRPC"}, {unix.AF_PHONET, "AF_PHONET"},
	}
	socketTypes = []named{
		{unix.SOCK_STREAM, "SOCK_STREAM"}, {unix.SOCK_DGRAM, "SOCK_DGRAM"}, {unix.SOCK_RAW, "SOCK_RAW"},
		{unix.SOCK_RDM, "SOCK_RDM"}, {unix.SOCK_SEQPACKET, "SOCK_SEQPACKET"}, {unix.SOCK_DCCP, "SOCK_DCCP"}, {unix.SOCK_PACKET, "SOCK_PACKET"},
	}
	prctlOptions = []named{
		{unix.PR_SET_PDEATHSIG, "PR_SET_PDEATHSIG"}, {unix.PR_GET_DUMPABLE, "PR_GET_DUMPABLE"}, {unix.PR_SET_DUMPABLE, "PR_SET_DUMPABLE"},
		{unix.PR_SET_KEEPCAPS, "PR_SET_KEEPCAPS"}, {unix.PR_SET_NAME, "PR_SET_NAME"}, {unix.PR_GET_NAME, "PR_GET_NAME"},
		{unix.PR_SET_SECCOMP, "PR_SET_SECCOMP"}, {unix.PR_GET_SECCOMP, "PR_GET_SECCOMP"}, {unix.PR_CAPBSET_READ, "PR_CAPBSET_READ"},
		{unix.PR_CAPBSET_DROP, "PR_CAPBSET_DROP"}, {unix.PR_SET_TIMERSLACK, "PR_SET_TIMERSLACK"}, {unix.PR_SET_MM, "PR_SET_MM"},
		{unix.PR_SET_CHILD_SUBREAPER, "PR_SET_CHILD_SUBREAPER"}, {unix.PR_SET_NO_NEW_PRIVS, "PR_SET_NO_NEW_PRIVS"},
		{unix.PR_GET_NO_NEW_PRIVS, "PR_GET_NO_NEW_PRIVS"}, {unix.PR_CAP_AMBIENT, "PR_CAP_AMBIENT"}, {unix.PR_SET_PTRACER, "PR_SET_PTRACER"},
		{unix.PR_SET_SECUREBITS, "PR_SET_SECUREBITS"}, {unix.PR_SET_VMA, "PR_SET_VMA"}, {unix.PR_SET_SYSCALL_USER_DISPATCH, "PR_SET_SYSCALL_USER_DISPATCH"},
		{unix.PR_SET_TSC, "PR_SET_TSC"}, {unix.PR_SET_SPECULATION_CTRL, "PR_SET_SPECULATION_CTRL"},
	}
	dumpable          = []named{{0, "SUID_DUMP_DISABLE"}, {1, "SUID_DUMP_USER"}, {2, "SUID_DUMP_ROOT"}}
	dispatch          = []named{{unix.PR_SYS_DISPATCH_OFF, "PR_SYS_DISPATCH_OFF"}, {unix.PR_SYS_DISPATCH_ON, "PR_SYS_DISPATCH_ON"}}
	seccompModes      = []named{{unix.SECCOMP_MODE_STRICT, "SECCOMP_MODE_STRICT"}, {unix.SECCOMP_MODE_FILTER, "SECCOMP_MODE_FILTER"}}
	seccompOperations = []named{
		{unix.SECCOMP_SET_MODE_STRICT, "SECCOMP_SET_MODE_STRICT"}, {unix.SECCOMP_SET_MODE_FILTER, "SECCOMP_SET_MODE_FILTER"},
		{unix.SECCOMP_GET_ACTION_AVAIL, "SECCOMP_GET_ACTION_AVAIL"}, {unix.SECCOMP_GET_NOTIF_SIZES, "SECCOMP_GET_NOTIF_SIZES"},
	}
	ptraceRequests = []named{
		{unix.PTRACE_TRACEME, "PTRACE_TRACEME"}, {unix.PTRACE_PEEKTEXT, "PTRACE_PEEKTEXT"}, {unix.PTRACE_PEEKDATA, "PTRACE_PEEKDATA"},
		{unix.PTRACE_POKETEXT, "PTRACE_POKETEXT"}, {unix.PTRACE_POKEDATA, "PTRACE_POKEDATA"}, {unix.PTRACE_CONT, "PTRACE_CONT"},
		{unix.PTRACE_KILL, "PTRACE_KILL"}, {unix.PTRACE_ATTACH, "PTRACE_ATTACH"}, {unix.PTRACE_DETACH, "PTRACE_DETACH"},
		{unix.PTRACE_SYSCALL, "PTRACE_SYSCALL"}, {unix.PTRACE_SETOPTIONS, "PTRACE_SETOPTIONS"}, {unix.PTRACE_SEIZE, "PTRACE_SEIZE"},
		{unix.PTRACE_INTERRUPT, "PTRACE_INTERRUPT"},
	}
	keyctlOperations = []named{
		{unix.KEYCTL_GET_KEYRING_ID, "KEYCTL_GET_KEYRING_ID"}, {unix.KEYCTL_JOIN_SESSION_KEYRING, "KEYCTL_JOIN_SESSION_KEYRING"},
		{unix.KEYCTL_UPDATE, "KEYCTL_UPDATE"}, {unix.KEYCTL_DESCRIBE, "KEYCTL_DESCRIBE"}, {unix.KEYCTL_SEARCH, "KEYCTL_SEARCH"},
		{unix.KEYCTL_READ, "KEYCTL_READ"},
	}
)

// appendName appends the name of a number, or the number.
func appendName(b []byte, value uint64, names []named) []byte {
	for _, n := range names {
		if n.value == value {
			return append(b, n.name...)
		}
	}
	return appendHex(b, value)
}

// appendBits appends the names of bits, and the rest as a number. first: nothing
// stands before them.
func appendBits(b []byte, value uint64, names []named, first bool) []byte {
	for _, n := range names {
		if value&n.value != n.value {
			continue
		}
		value &^= n.value
		if !first {
			b = append(b, '|')
		}
		b, first = append(b, n.name...), false
	}
	if value == 0 && !first {
		return b
	}
	if !first {
		b = append(b, '|')
	}
	return appendHex(b, value)
}

func appendHex(b []byte, value uint64) []byte {
	if value == 0 {
		return append(b, '0')
	}
	return strconv.AppendUint(append(b, "0x"...), value, 16)
}

func appendSignal(b []byte, signal int) []byte {
	if name := unix.SignalName(unix.Signal(signal)); name != "" {
		return append(b, name...)
	}
	return strconv.AppendInt(b, int64(signal), 10)
}

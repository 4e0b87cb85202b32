package ptrace

import (
	"slices"
	"syscall"
)

// argument says how one argument of a call is printed.
type argument int

const (
	argDecimal      argument = iota // int
	argLong                         // 64-bit, signed
	argOctal                        // a file mode
	argHexadecimal                  // flags that need no names, and the like
	argPointer                      // NULL or 0x...
	argDescriptor                   // 3</path>
	argDirectory                    // a descriptor that the path behind it is relative to
	argPath                         // a string that ends with 0
	argDevice                       // of a mknod
	argBuffer                       // bytes that are passed in; the next argument is how many
	argVector                       // the same in an array of iovec
	argHeader                       // struct msghdr passed in
	argHeaders                      // struct mmsghdr passed in
	argAddress                      // struct sockaddr passed in; the next argument is its length
	argStrings                      // argv or envp
	argProcess                      // a pid
	argNumber                       // of a signal
	argDataOffset                   // a pointer to an offset
	argMappedFile                   // a descriptor, or -1
	argCapabilities                 // struct __user_cap_data_struct
	argOptionValue                  // of a prctl, by the first argument

	// What the call passes out is printed when it has returned.
	argBufferOut
	argVectorOut
	argHeaderOut
	argHeadersOut
	argAddressOut // the next argument points to its length
	argPairOut    // int[2] of descriptors

	// Flags and numbers with names.
	argOpenFlags
	argOpenHow
	argCloneFlags
	argCloneArgs
	argNamespaceFlags
	argRenameFlags
	argAtFlags
	argAccessFlags
	argDomain
	argSocketType
	argProtection
	argMapFlags
	argPrctlOption
	argSeccompOperation
	argSeccompFlags
	argPtraceRequest
	argMemfdFlags
	argKeyctlOperation
)

// isOut reports whether an argument is known only when the call has returned.
func (a argument) isOut() bool { return a >= argBufferOut && a <= argPairOut }

// call says how a system call is printed.
type call struct {
	name      string
	arguments []argument
	// returnsDescriptor: the result is one.
	returnsDescriptor bool
	// clones: the result is the pid of a new task.
	clones bool
	// connects: its first argument gets another peer.
	connects bool
	// reads: it only takes bytes out of its first argument, and of a file or a
	// nameless descriptor nothing is to be learned from that.
	reads bool
	// writes: it puts bytes into its first argument; of a nameless descriptor
	// nothing is to be learned from that.
	writes bool
	// refused is the error that is given in the kernel's place; 0 for none.
	refused syscall.Errno
}

// Shapes that several calls share.
var (
	onPath       = []argument{argPath}
	onDescriptor = []argument{argDescriptor}
	ids          = []argument{argDecimal, argDecimal, argDecimal}
	numbersOnly  = []argument{argHexadecimal, argHexadecimal, argHexadecimal, argHexadecimal, argHexadecimal, argHexadecimal}
)

// signatures are the arguments of the traced calls, by the prototypes of man 2.
// A function, not a variable: only the tracer needs it.
func signatures() map[string][]argument {
	return map[string][]argument{
		"open": {argPath, argOpenFlags, argOctal}, "creat": {argPath, argOctal},
		"openat": {argDirectory, argPath, argOpenFlags, argOctal}, "openat2": {argDirectory, argPath, argOpenHow, argDecimal},
		"name_to_handle_at": {argDirectory, argPath, argPointer, argPointer, argHexadecimal}, "open_by_handle_at": {argDescriptor, argPointer, argOpenFlags},
		"readlink": {argPath, argBufferOut, argDecimal}, "readlinkat": {argDirectory, argPath, argBufferOut, argDecimal},
		"chdir": onPath, "fchdir": onDescriptor,
		"inotify_add_watch": {argDescriptor, argPath, argHexadecimal}, "fanotify_init": {argHexadecimal, argOpenFlags},
		"fanotify_mark": {argDescriptor, argHexadecimal, argHexadecimal, argDirectory, argPath},

		"rename": {argPath, argPath}, "renameat": {argDirectory, argPath, argDirectory, argPath},
		"renameat2": {argDirectory, argPath, argDirectory, argPath, argRenameFlags},
		"mkdir":     {argPath, argOctal}, "mkdirat": {argDirectory, argPath, argOctal},
		"rmdir": onPath, "unlink": onPath, "unlinkat": {argDirectory, argPath, argAtFlags},
		"symlink": {argPath, argPath}, "symlinkat": {argPath, argDirectory, argPath},
		"link": {argPath, argPath}, "linkat": {argDirectory, argPath, argDirectory, argPath, argAtFlags},
		"chmod": {argPath, argOctal}, "fchmod": {argDescriptor, argOctal},
		"fchmodat": {argDirectory, argPath, argOctal}, "fchmodat2": {argDirectory, argPath, argOctal, argAtFlags},
		"chown": {argPath, argDecimal, argDecimal}, "lchown": {argPath, argDecimal, argDecimal}, "fchown": {argDescriptor, argDecimal, argDecimal},
		"fchownat": {argDirectory, argPath, argDecimal, argDecimal, argAtFlags},
		"truncate": {argPath, argLong}, "ftruncate": {argDescriptor, argLong}, "fallocate": {argDescriptor, argHexadecimal, argLong, argLong},
		"mknod": {argPath, argOctal, argDevice}, "mknodat": {argDirectory, argPath, argOctal, argDevice},
		"setxattr": {argPath, argPath, argBuffer, argDecimal, argHexadecimal}, "lsetxattr": {argPath, argPath, argBuffer, argDecimal, argHexadecimal},
		"fsetxattr": {argDescriptor, argPath, argBuffer, argDecimal, argHexadecimal}, "setxattrat": {argDirectory, argPath, argAtFlags, argPath, argPointer, argDecimal},
		"removexattr": {argPath, argPath}, "lremovexattr": {argPath, argPath}, "fremovexattr": {argDescriptor, argPath},
		"removexattrat": {argDirectory, argPath, argAtFlags, argPath},
		"utime":         {argPath, argPointer}, "utimes": {argPath, argPointer}, "futimesat": {argDirectory, argPath, argPointer},
		"utimensat": {argDirectory, argPath, argPointer, argAtFlags},
		"access":    {argPath, argAccessFlags}, "faccessat": {argDirectory, argPath, argAccessFlags}, "faccessat2": {argDirectory, argPath, argAccessFlags, argAtFlags},
		"mmap": {argPointer, argLong, argProtection, argMapFlags, argMappedFile, argHexadecimal}, "mprotect": {argPointer, argLong, argProtection},
		"file_getattr": {argDirectory, argPath, argPointer, argDecimal, argAtFlags}, "file_setattr": {argDirectory, argPath, argPointer, argDecimal, argAtFlags},

		"read": {argDescriptor, argBufferOut, argLong}, "pread64": {argDescriptor, argBufferOut, argLong, argLong},
		"readv": {argDescriptor, argVectorOut, argDecimal}, "preadv": {argDescriptor, argVectorOut, argDecimal, argLong},
		"preadv2": {argDescriptor, argVectorOut, argDecimal, argLong, argHexadecimal, argHexadecimal},
		"write":   {argDescriptor, argBuffer, argLong}, "pwrite64": {argDescriptor, argBuffer, argLong, argLong},
		"writev": {argDescriptor, argVector, argDecimal}, "pwritev": {argDescriptor, argVector, argDecimal, argLong},
		"pwritev2": {argDescriptor, argVector, argDecimal, argLong, argHexadecimal, argHexadecimal},
		"sendfile": {argDescriptor, argDescriptor, argDataOffset, argLong}, "splice": {argDescriptor, argDataOffset, argDescriptor, argDataOffset, argLong, argHexadecimal},
		"tee": {argDescriptor, argDescriptor, argLong, argHexadecimal}, "vmsplice": {argDescriptor, argVector, argDecimal, argHexadecimal},
		"copy_file_range": {argDescriptor, argDataOffset, argDescriptor, argDataOffset, argLong, argHexadecimal},

		"socket": {argDomain, argSocketType, argDecimal}, "socketpair": {argDomain, argSocketType, argDecimal, argPairOut},
		"connect": {argDescriptor, argAddress, argDecimal}, "bind": {argDescriptor, argAddress, argDecimal}, "listen": {argDescriptor, argDecimal},
		"accept": {argDescriptor, argAddressOut, argPointer}, "accept4": {argDescriptor, argAddressOut, argPointer, argHexadecimal},
		"shutdown": {argDescriptor, argDecimal}, "setsockopt": {argDescriptor, argDecimal, argDecimal, argBuffer, argDecimal},
		"sendto":  {argDescriptor, argBuffer, argLong, argHexadecimal, argAddress, argDecimal},
		"sendmsg": {argDescriptor, argHeader, argHexadecimal}, "sendmmsg": {argDescriptor, argHeaders, argDecimal, argHexadecimal},
		"recvfrom": {argDescriptor, argBufferOut, argLong, argHexadecimal, argAddressOut, argPointer},
		"recvmsg":  {argDescriptor, argHeaderOut, argHexadecimal}, "recvmmsg": {argDescriptor, argHeadersOut, argDecimal, argHexadecimal, argPointer},

		"execve": {argPath, argStrings, argStrings}, "execveat": {argDirectory, argPath, argStrings, argStrings, argAtFlags},
		"fork": {}, "vfork": {}, "clone": {argCloneFlags}, "clone3": {argCloneArgs, argDecimal},
		"setsid": {}, "setpgid": {argProcess, argProcess},
		"kill": {argProcess, argNumber}, "tkill": {argProcess, argNumber}, "tgkill": {argProcess, argProcess, argNumber},
		"rt_sigqueueinfo": {argProcess, argNumber, argPointer}, "rt_tgsigqueueinfo": {argProcess, argProcess, argNumber, argPointer},
		"pidfd_open": {argProcess, argHexadecimal}, "pidfd_getfd": {argDescriptor, argDecimal, argHexadecimal},
		"pidfd_send_signal": {argDescriptor, argNumber, argPointer, argHexadecimal},
		"kcmp":              {argProcess, argProcess, argDecimal, argHexadecimal, argHexadecimal},
		"prctl":             {argPrctlOption, argOptionValue, argHexadecimal, argHexadecimal, argHexadecimal},
		"seccomp":           {argSeccompOperation, argSeccompFlags, argPointer}, "personality": {argHexadecimal},
		"setuid": ids[:1], "setgid": ids[:1], "setreuid": ids[:2], "setregid": ids[:2],
		"setresuid": ids, "setresgid": ids, "setgroups": {argDecimal, argPointer}, "setfsuid": ids[:1], "setfsgid": ids[:1],
		"capset": {argCapabilities, argCapabilities}, "capget": {argCapabilities, argPointer},
		"keyctl":  {argKeyctlOperation, argHexadecimal, argHexadecimal, argHexadecimal, argHexadecimal},
		"add_key": {argPath, argPath, argPointer, argDecimal, argHexadecimal}, "request_key": {argPath, argPath, argPath, argHexadecimal},
		"dup": onDescriptor, "dup2": {argDescriptor, argDescriptor}, "dup3": {argDescriptor, argDescriptor, argHexadecimal},
		"close_range":  {argDecimal, argDecimal, argHexadecimal},
		"memfd_create": {argPath, argMemfdFlags}, "memfd_secret": {argHexadecimal},

		"ptrace":           {argPtraceRequest, argProcess, argHexadecimal, argHexadecimal},
		"process_vm_readv": append([]argument{argProcess}, numbersOnly[:5]...), "process_vm_writev": append([]argument{argProcess}, numbersOnly[:5]...),
		"process_madvise": {argDescriptor, argPointer, argDecimal, argDecimal, argHexadecimal},
		"mount":           {argPath, argPath, argPath, argHexadecimal, argPath}, "umount2": {argPath, argHexadecimal}, "pivot_root": {argPath, argPath}, "chroot": onPath,
		"open_tree": {argDirectory, argPath, argHexadecimal}, "open_tree_attr": {argDirectory, argPath, argHexadecimal, argPointer, argDecimal},
		"move_mount": {argDirectory, argPath, argDirectory, argPath, argHexadecimal}, "fsopen": {argPath, argHexadecimal},
		"fsconfig": {argDescriptor, argDecimal, argPath, argPointer, argDecimal}, "fsmount": {argDescriptor, argHexadecimal, argHexadecimal},
		"fspick": {argDirectory, argPath, argHexadecimal}, "mount_setattr": {argDirectory, argPath, argHexadecimal, argPointer, argDecimal},
		"unshare": {argNamespaceFlags}, "setns": {argDescriptor, argNamespaceFlags},
		"finit_module": {argDescriptor, argPath, argHexadecimal}, "delete_module": {argPath, argHexadecimal}, "swapon": {argPath, argHexadecimal},
		"acct": onPath,
	}
}

// returning are the calls whose result is a descriptor.
var returning = []string{
	"open", "creat", "openat", "openat2", "open_by_handle_at", "fanotify_init", "socket", "accept", "accept4",
	"pidfd_open", "pidfd_getfd", "dup", "dup2", "dup3", "memfd_create", "memfd_secret", "open_tree", "open_tree_attr",
	"fsopen", "fsmount", "fspick", "io_uring_setup", "bpf", "perf_event_open", "userfaultfd",
}

// table has the traced calls by their numbers.
func table(names []string, refused map[string]syscall.Errno) []*call {
	known := signatures()
	var all []*call
	for _, name := range names {
		nr, ok := numbers[name]
		if !ok {
			continue
		}
		for len(all) <= int(nr) {
			all = append(all, nil)
		}
		arguments, ok := known[name]
		if !ok {
			arguments = numbersOnly
		}
		all[nr] = &call{
			name: name, arguments: arguments, refused: refused[name],
			returnsDescriptor: slices.Contains(returning, name),
			connects:          name == "connect",
			clones:            slices.Contains([]string{"fork", "vfork", "clone", "clone3"}, name),
			reads:             slices.Contains([]string{"read", "pread64", "readv", "preadv", "preadv2"}, name),
			writes:            slices.Contains([]string{"write", "pwrite64", "writev", "pwritev", "pwritev2"}, name),
		}
	}
	return all
}

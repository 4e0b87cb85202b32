package syscalls

import "syscall"

// The families of calls that do the same work. A policy for the server that is made
// from its audit takes a family away where the audit saw none of it: a libc, a kernel
// or an architecture may choose another call of the family. In none are, whatever was
// seen: what runc itself calls between the filter and the server's first instruction
// and when somebody uses kubectl exec (execve, prctl, capset, setuid, setgid,
// setgroups, chdir, fchown, dup3, tgkill, openat), and what every runtime may do at
// another time, on more processors or with another libc.
const (
	removing    = "removing files"
	renaming    = "renaming files"
	directories = "making directories"
	links       = "making links"
	modes       = "changing modes"
	owners      = "changing owners by name"
	devices     = "making devices and named pipes"
	attributes  = "changing extended attributes"
	times       = "changing times of files"
	handles     = "handles of files"
	watching    = "watching files"
	connecting  = "connecting"
	binding     = "binding sockets"
	listening   = "listening"
	pairs       = "pairs of sockets"
	processes   = "starting processes"
	sessions    = "sessions"
	signals     = "signals to processes"
	filters     = "filters of its own"
	ids         = "changing some of the ids"
	memory      = "files in memory"
	segments    = "segments of its own"
)

// none stands for the number of a call that an architecture does without.
const none = -1

// Table lists the system calls to trace, by purpose. It is wide on purpose: what is not
// traced cannot be judged. The numbers are those of the kernel's tables, the
// arguments those of the prototypes of man 2.
var Table = []Call{
	// Opens.
	{Name: "open", AMD64: 2, ARM64: none, Args: Args{Path, OpenFlags, Octal}, Op: Open, Returns: NewFile},
	{Name: "openat", AMD64: 257, ARM64: 56, Args: Args{Directory, Path, OpenFlags, Octal}, Op: Open, Returns: NewFile},
	{Name: "openat2", AMD64: 437, ARM64: 437, Args: Args{Directory, Path, OpenHow, Decimal}, Op: Open, Returns: NewFile},
	{Name: "creat", AMD64: 85, ARM64: none, Args: Args{Path, Octal}, Op: Open, Returns: NewFile},
	{Name: "open_by_handle_at", AMD64: 304, ARM64: 265, Args: Args{Descriptor, Pointer, OpenFlags}, Op: Open, Returns: NewFile, Danger: FileHandle, Refused: syscall.EPERM},

	// Changes to files.
	{Name: "rmdir", AMD64: 84, ARM64: none, Args: Args{Entry}, Op: Delete, Family: removing},
	{Name: "unlink", AMD64: 87, ARM64: none, Args: Args{Entry}, Op: Delete, Family: removing},
	{Name: "unlinkat", AMD64: 263, ARM64: 35, Args: Args{Directory, Entry, AtFlags}, Op: Delete, Family: removing},
	{Name: "rename", AMD64: 82, ARM64: none, Args: Args{Entry, Entry}, Op: Rename, Family: renaming},
	{Name: "renameat", AMD64: 264, ARM64: 38, Args: Args{Directory, Entry, Directory, Entry}, Op: Rename, Family: renaming},
	{Name: "renameat2", AMD64: 316, ARM64: 276, Args: Args{Directory, Entry, Directory, Entry, RenameFlags}, Op: Rename, Family: renaming},
	{Name: "mkdir", AMD64: 83, ARM64: none, Args: Args{Entry, Octal}, Op: Write, Family: directories},
	{Name: "mkdirat", AMD64: 258, ARM64: 34, Args: Args{Directory, Entry, Octal}, Op: Write, Family: directories},
	{Name: "link", AMD64: 86, ARM64: none, Args: Args{Entry, Entry}, Op: Link, Family: links},
	{Name: "linkat", AMD64: 265, ARM64: 37, Args: Args{Directory, Entry, Directory, Entry, AtFlags}, Op: Link, Family: links},
	{Name: "symlink", AMD64: 88, ARM64: none, Args: Args{Text, Entry}, Op: Link, Family: links},
	{Name: "symlinkat", AMD64: 266, ARM64: 36, Args: Args{Text, Directory, Entry}, Op: Link, Family: links},
	{Name: "chmod", AMD64: 90, ARM64: none, Args: Args{Path, Octal}, Op: Attribute, Capability: "CAP_FOWNER", Family: modes},
	{Name: "fchmod", AMD64: 91, ARM64: 52, Args: Args{Descriptor, Octal}, Op: Attribute, Capability: "CAP_FOWNER", Family: modes},
	{Name: "fchmodat", AMD64: 268, ARM64: 53, Args: Args{Directory, Path, Octal}, Op: Attribute, Capability: "CAP_FOWNER", Family: modes},
	{Name: "fchmodat2", AMD64: 452, ARM64: 452, Args: Args{Directory, Path, Octal, AtFlags}, Op: Attribute, Capability: "CAP_FOWNER", Family: modes},
	{Name: "chown", AMD64: 92, ARM64: none, Args: Args{Path, Decimal, Decimal}, Op: Attribute, Capability: "CAP_CHOWN", Family: owners},
	{Name: "lchown", AMD64: 94, ARM64: none, Args: Args{Entry, Decimal, Decimal}, Op: Attribute, Capability: "CAP_CHOWN", Family: owners},
	{Name: "fchown", AMD64: 93, ARM64: 55, Args: Args{Descriptor, Decimal, Decimal}, Op: Attribute, Capability: "CAP_CHOWN"},
	{Name: "fchownat", AMD64: 260, ARM64: 54, Args: Args{Directory, Path, Decimal, Decimal, AtFlags}, Op: Attribute, Capability: "CAP_CHOWN", Family: owners},
	{Name: "mknod", AMD64: 133, ARM64: none, Args: Args{Entry, Octal, Hex}, Op: Write, Capability: "CAP_MKNOD", Family: devices},
	{Name: "mknodat", AMD64: 259, ARM64: 33, Args: Args{Directory, Entry, Octal, Hex}, Op: Write, Capability: "CAP_MKNOD", Family: devices},
	{Name: "setxattr", AMD64: 188, ARM64: 5, Args: Args{Path, Text, Buffer, Decimal, Hex}, Op: Attribute, Family: attributes},
	{Name: "lsetxattr", AMD64: 189, ARM64: 6, Args: Args{Entry, Text, Buffer, Decimal, Hex}, Op: Attribute, Family: attributes},
	{Name: "fsetxattr", AMD64: 190, ARM64: 7, Args: Args{Descriptor, Text, Buffer, Decimal, Hex}, Op: Attribute, Family: attributes},
	{Name: "setxattrat", AMD64: 463, ARM64: 463, Args: Args{Directory, Path, AtFlags, Text, Pointer, Decimal}, Op: Attribute, Family: attributes},
	{Name: "removexattr", AMD64: 197, ARM64: 14, Args: Args{Path, Text}, Op: Attribute, Family: attributes},
	{Name: "lremovexattr", AMD64: 198, ARM64: 15, Args: Args{Entry, Text}, Op: Attribute, Family: attributes},
	{Name: "fremovexattr", AMD64: 199, ARM64: 16, Args: Args{Descriptor, Text}, Op: Attribute, Family: attributes},
	{Name: "removexattrat", AMD64: 466, ARM64: 466, Args: Args{Directory, Path, AtFlags, Text}, Op: Attribute, Family: attributes},
	{Name: "utime", AMD64: 132, ARM64: none, Args: Args{Path, Pointer}, Op: Attribute, Capability: "CAP_FOWNER", Family: times},
	{Name: "utimes", AMD64: 235, ARM64: none, Args: Args{Path, Pointer}, Op: Attribute, Capability: "CAP_FOWNER", Family: times},
	{Name: "futimesat", AMD64: 261, ARM64: none, Args: Args{Directory, Path, Pointer}, Op: Attribute, Capability: "CAP_FOWNER", Family: times},
	{Name: "utimensat", AMD64: 280, ARM64: 88, Args: Args{Directory, Path, Times, AtFlags}, Op: Attribute, Capability: "CAP_FOWNER", Family: times},
	{Name: "truncate", AMD64: 76, ARM64: 45, Args: Args{Path, Long}, Op: Write},
	{Name: "ftruncate", AMD64: 77, ARM64: 46, Args: Args{Descriptor, Long}, Op: Write},
	{Name: "fallocate", AMD64: 285, ARM64: 47, Args: Args{Descriptor, Hex, Long, Long}, Op: Write},

	// Files by name.
	{Name: "stat", AMD64: 4, ARM64: none, Args: Args{Path, Pointer}, Op: Look},
	{Name: "lstat", AMD64: 6, ARM64: none, Args: Args{Entry, Pointer}, Op: Look},
	{Name: "newfstatat", AMD64: 262, ARM64: 79, Args: Args{Directory, Path, Pointer, AtFlags}, Op: Look},
	{Name: "statx", AMD64: 332, ARM64: 291, Args: Args{Directory, Path, AtFlags, Hex, Pointer}, Op: Look},
	{Name: "statfs", AMD64: 137, ARM64: 43, Args: Args{Path, Pointer}, Op: Look},
	{Name: "access", AMD64: 21, ARM64: none, Args: Args{Path, Octal}, Op: Look},
	{Name: "faccessat", AMD64: 269, ARM64: 48, Args: Args{Directory, Path, Octal}, Op: Look},
	{Name: "faccessat2", AMD64: 439, ARM64: 439, Args: Args{Directory, Path, Octal, AtFlags}, Op: Look},
	{Name: "getxattr", AMD64: 191, ARM64: 8, Args: Args{Path, Text, Pointer, Decimal}, Op: Look},
	{Name: "lgetxattr", AMD64: 192, ARM64: 9, Args: Args{Entry, Text, Pointer, Decimal}, Op: Look},
	{Name: "listxattr", AMD64: 194, ARM64: 11, Args: Args{Path, Pointer, Decimal}, Op: Look},
	{Name: "llistxattr", AMD64: 195, ARM64: 12, Args: Args{Entry, Pointer, Decimal}, Op: Look},
	{Name: "name_to_handle_at", AMD64: 303, ARM64: 264, Args: Args{Directory, Path, Pointer, Pointer, Hex}, Op: Look, Family: handles},
	{Name: "inotify_add_watch", AMD64: 254, ARM64: 27, Args: Args{Descriptor, Path, Hex}, Op: Look, Family: watching},
	{Name: "fanotify_init", AMD64: 300, ARM64: 262, Args: Args{Hex, OpenFlags}, Op: Evade, Returns: NewFile, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_ADMIN"},
	{Name: "readlink", AMD64: 89, ARM64: none, Args: Args{Entry, BufferOut, Decimal}, Op: Look},
	{Name: "readlinkat", AMD64: 267, ARM64: 78, Args: Args{Directory, Entry, BufferOut, Decimal}, Op: Look},
	{Name: "chdir", AMD64: 80, ARM64: 49, Args: Args{Path}, Op: Chdir},
	{Name: "fchdir", AMD64: 81, ARM64: 50, Args: Args{Descriptor}, Op: Chdir},

	// Memory that is a file: starts of Node and Python become 1 to 3 % slower by
	// it (measured), a run that allocates without end 5 %.
	{Name: "mmap", AMD64: 9, ARM64: 222, Args: Args{Pointer, Long, Protection, MapFlags, Descriptor, Hex}, Op: Map, Returns: Address},

	// Bytes: the conversation on stdin and stdout, and what sockets carry.
	{Name: "read", AMD64: 0, ARM64: 63, Args: Args{Descriptor, BufferOut, Long}, Op: Input},
	{Name: "readv", AMD64: 19, ARM64: 65, Args: Args{Descriptor, VectorOut, Decimal}, Op: Input},
	{Name: "pread64", AMD64: 17, ARM64: 67, Args: Args{Descriptor, BufferOut, Long, Long}, Op: Input},
	{Name: "preadv", AMD64: 295, ARM64: 69, Args: Args{Descriptor, VectorOut, Decimal, Long}, Op: Input},
	{Name: "preadv2", AMD64: 327, ARM64: 286, Args: Args{Descriptor, VectorOut, Decimal, Long, Hex, Hex}, Op: Input},
	{Name: "write", AMD64: 1, ARM64: 64, Args: Args{Descriptor, Buffer, Long}, Op: Output},
	{Name: "writev", AMD64: 20, ARM64: 66, Args: Args{Descriptor, Vector, Decimal}, Op: Output},
	{Name: "pwrite64", AMD64: 18, ARM64: 68, Args: Args{Descriptor, Buffer, Long, Long}, Op: Output},
	{Name: "pwritev", AMD64: 296, ARM64: 70, Args: Args{Descriptor, Vector, Decimal, Long}, Op: Output},
	{Name: "pwritev2", AMD64: 328, ARM64: 287, Args: Args{Descriptor, Vector, Decimal, Long, Hex, Hex}, Op: Output},
	{Name: "sendfile", AMD64: 40, ARM64: 71, Args: Args{Descriptor, Descriptor, Pointer, Long}, Op: Move},
	{Name: "splice", AMD64: 275, ARM64: 76, Args: Args{Descriptor, Pointer, Descriptor, Pointer, Long, Hex}, Op: Move},
	{Name: "tee", AMD64: 276, ARM64: 77, Args: Args{Descriptor, Descriptor, Long, Hex}, Op: Move},
	{Name: "vmsplice", AMD64: 278, ARM64: 75, Args: Args{Descriptor, Vector, Decimal, Hex}, Op: Move},
	{Name: "copy_file_range", AMD64: 326, ARM64: 285, Args: Args{Descriptor, Pointer, Descriptor, Pointer, Long, Hex}, Op: Move},

	// Sockets.
	{Name: "socket", AMD64: 41, ARM64: 198, Args: Args{Domain, SocketType, Decimal}, Op: Socket, Returns: NewFile, Danger: WideSocket},
	{Name: "connect", AMD64: 42, ARM64: 203, Args: Args{Descriptor, SocketAddr, Decimal}, Op: Connect, Family: connecting},
	{Name: "bind", AMD64: 49, ARM64: 200, Args: Args{Descriptor, SocketAddr, Decimal}, Op: Bind, Family: binding},
	{Name: "listen", AMD64: 50, ARM64: 201, Args: Args{Descriptor, Decimal}, Op: Listen, Family: listening},
	{Name: "accept", AMD64: 43, ARM64: 202, Args: Args{Descriptor, SocketAddrOut, Pointer}, Op: Accept, Returns: NewFile, Family: listening},
	{Name: "accept4", AMD64: 288, ARM64: 242, Args: Args{Descriptor, SocketAddrOut, Pointer, Hex}, Op: Accept, Returns: NewFile, Family: listening},
	{Name: "socketpair", AMD64: 53, ARM64: 199, Args: Args{Domain, SocketType, Decimal, PairOut}, Op: Pair, Family: pairs},
	{Name: "sendto", AMD64: 44, ARM64: 206, Args: Args{Descriptor, Buffer, Long, MessageFlags, SocketAddr, Decimal}, Op: Send},
	{Name: "sendmsg", AMD64: 46, ARM64: 211, Args: Args{Descriptor, Message, MessageFlags}, Op: Send},
	{Name: "sendmmsg", AMD64: 307, ARM64: 269, Args: Args{Descriptor, Messages, Decimal, MessageFlags}, Op: Send},
	{Name: "recvfrom", AMD64: 45, ARM64: 207, Args: Args{Descriptor, BufferOut, Long, MessageFlags, SocketAddrOut, Pointer}, Op: Receive},
	{Name: "recvmsg", AMD64: 47, ARM64: 212, Args: Args{Descriptor, MessageOut, MessageFlags}, Op: Receive},
	{Name: "recvmmsg", AMD64: 299, ARM64: 243, Args: Args{Descriptor, MessagesOut, Decimal, MessageFlags, Pointer}, Op: Receive},

	// Processes.
	{Name: "execve", AMD64: 59, ARM64: 221, Args: Args{Path, Strings, Strings}, Op: Exec},
	{Name: "execveat", AMD64: 322, ARM64: 281, Args: Args{Directory, Path, Strings, Strings, AtFlags}, Op: Exec},
	{Name: "fork", AMD64: 57, ARM64: none, Args: Args{}, Op: Clone, Returns: NewTask, Family: processes},
	{Name: "vfork", AMD64: 58, ARM64: none, Args: Args{}, Op: Clone, Returns: NewTask, Family: processes},
	{Name: "clone", AMD64: 56, ARM64: 220, Args: Args{CloneFlags}, Op: Clone, Returns: NewTask, Danger: NewNamespace},
	{Name: "clone3", AMD64: 435, ARM64: 435, Args: Args{CloneArgs, Decimal}, Op: Clone, Returns: NewTask, Danger: NewNamespace, Refused: syscall.ENOSYS},
	{Name: "setsid", AMD64: 112, ARM64: 157, Args: Args{}, Op: Session, Family: sessions},
	{Name: "kill", AMD64: 62, ARM64: 129, Args: Args{Process, Signal}, Op: Kill, Danger: Signalling, Capability: "CAP_KILL", Family: signals},
	{Name: "tkill", AMD64: 200, ARM64: 130, Args: Args{Process, Signal}, Op: Kill, Danger: Signalling, Capability: "CAP_KILL"},
	{Name: "tgkill", AMD64: 234, ARM64: 131, Args: Args{Process, Process, Signal}, Op: Kill, Danger: Signalling, Capability: "CAP_KILL"},
	{Name: "rt_sigqueueinfo", AMD64: 129, ARM64: 138, Args: Args{Process, Signal, Pointer}, Op: Kill, Danger: Signalling, Family: signals},
	{Name: "rt_tgsigqueueinfo", AMD64: 297, ARM64: 240, Args: Args{Process, Process, Signal, Pointer}, Op: Kill, Danger: Signalling, Family: signals},
	{Name: "pidfd_send_signal", AMD64: 424, ARM64: 424, Args: Args{Descriptor, Signal, Pointer, Hex}, Op: Kill, Danger: Signalling, Capability: "CAP_KILL", Family: signals},
	{Name: "pidfd_open", AMD64: 434, ARM64: 434, Args: Args{Process, Hex}, Returns: NewFile, Family: signals},
	{Name: "pidfd_getfd", AMD64: 438, ARM64: 438, Args: Args{Descriptor, Decimal, Hex}, Op: Evade, Returns: NewFile, Danger: ForeignMemory},
	{Name: "kcmp", AMD64: 312, ARM64: 272, Args: Args{Process, Process, Decimal, Hex, Hex}},
	{Name: "prctl", AMD64: 157, ARM64: 167, Args: Args{PrctlOption, PrctlValue, Hex, Hex, Hex}, Op: Prctl, Danger: Hiding},
	{Name: "seccomp", AMD64: 317, ARM64: 277, Args: Args{SeccompOperation, SeccompFlags, Pointer}, Op: Seccomp, Danger: SeccompListener, Family: filters},
	{Name: "personality", AMD64: 135, ARM64: 92, Args: Args{Hex}},

	// Credentials and keys.
	{Name: "setuid", AMD64: 105, ARM64: 146, Args: Args{Decimal}, Op: Credential},
	{Name: "setgid", AMD64: 106, ARM64: 144, Args: Args{Decimal}, Op: Credential},
	{Name: "setgroups", AMD64: 116, ARM64: 159, Args: Args{Decimal, Pointer}, Op: Credential},
	{Name: "setreuid", AMD64: 113, ARM64: 145, Args: Args{Decimal, Decimal}, Op: Credential, Family: ids},
	{Name: "setregid", AMD64: 114, ARM64: 143, Args: Args{Decimal, Decimal}, Op: Credential, Family: ids},
	{Name: "setresuid", AMD64: 117, ARM64: 147, Args: Args{Decimal, Decimal, Decimal}, Op: Credential},
	{Name: "setresgid", AMD64: 119, ARM64: 149, Args: Args{Decimal, Decimal, Decimal}, Op: Credential, Family: ids},
	{Name: "setfsuid", AMD64: 122, ARM64: 151, Args: Args{Decimal}, Op: Credential, Family: ids},
	{Name: "setfsgid", AMD64: 123, ARM64: 152, Args: Args{Decimal}, Op: Credential, Family: ids},
	{Name: "capset", AMD64: 126, ARM64: 91, Args: Args{Capabilities, Capabilities}, Op: Credential},
	{Name: "keyctl", AMD64: 250, ARM64: 219, Args: Args{KeyctlOperation, Hex, Hex, Hex, Hex}, Op: Evade, Danger: Keyrings, Refused: syscall.EPERM},
	{Name: "add_key", AMD64: 248, ARM64: 217, Args: Args{Text, Text, Pointer, Decimal, Hex}, Op: Evade, Danger: Keyrings, Refused: syscall.EPERM},
	{Name: "request_key", AMD64: 249, ARM64: 218, Args: Args{Text, Text, Text, Hex}, Op: Evade, Danger: Keyrings, Refused: syscall.EPERM},

	// Descriptors.
	{Name: "dup", AMD64: 32, ARM64: 23, Args: Args{Descriptor}, Op: Duplicate, Returns: NewFile},
	{Name: "dup2", AMD64: 33, ARM64: none, Args: Args{Descriptor, Descriptor}, Op: Duplicate, Returns: NewFile},
	{Name: "dup3", AMD64: 292, ARM64: 24, Args: Args{Descriptor, Descriptor, Hex}, Op: Duplicate, Returns: NewFile},
	{Name: "memfd_create", AMD64: 319, ARM64: 279, Args: Args{Text, MemfdFlags}, Op: Memory, Returns: NewFile, Family: memory},
	{Name: "memfd_secret", AMD64: 447, ARM64: 447, Args: Args{Hex}, Op: Memory, Returns: NewFile, Family: memory},

	// Ways around the tracer.
	{Name: "ptrace", AMD64: 101, ARM64: 117, Args: Args{PtraceRequest, Process, Hex, Hex}, Op: Evade, Danger: Tracing, Refused: syscall.EPERM},
	{Name: "process_vm_readv", AMD64: 310, ARM64: 270, Args: Args{Process, Hex, Hex, Hex, Hex, Hex}, Op: Evade, Danger: ForeignMemory, Refused: syscall.EPERM},
	{Name: "process_vm_writev", AMD64: 311, ARM64: 271, Args: Args{Process, Hex, Hex, Hex, Hex, Hex}, Op: Evade, Danger: ForeignMemory, Refused: syscall.EPERM},
	{Name: "process_madvise", AMD64: 440, ARM64: 440, Args: Args{Descriptor, Pointer, Decimal, Decimal, Hex}},
	{Name: "userfaultfd", AMD64: 323, ARM64: 282, Op: Evade, Returns: NewFile, Danger: ForeignMemory, Refused: syscall.EPERM},
	{Name: "io_uring_setup", AMD64: 425, ARM64: 425, Op: Evade, Returns: NewFile, Danger: AsyncIO, Refused: syscall.ENOSYS},
	{Name: "io_uring_enter", AMD64: 426, ARM64: 426, Op: Evade, Danger: AsyncIO, Refused: syscall.ENOSYS},
	{Name: "io_uring_register", AMD64: 427, ARM64: 427, Op: Evade, Danger: AsyncIO, Refused: syscall.ENOSYS},
	{Name: "io_setup", AMD64: 206, ARM64: 0, Danger: AsyncIO, Refused: syscall.ENOSYS},
	{Name: "io_submit", AMD64: 209, ARM64: 2, Op: Evade, Danger: AsyncIO, Refused: syscall.ENOSYS},

	// Mounts and namespaces.
	{Name: "mount", AMD64: 165, ARM64: 40, Args: Args{Path, Path, Text, Hex, Text}, Op: Evade, Danger: Mounting, Capability: "CAP_SYS_ADMIN"},
	{Name: "umount2", AMD64: 166, ARM64: 39, Args: Args{Path, Hex}, Op: Evade, Danger: Mounting, Capability: "CAP_SYS_ADMIN"},
	{Name: "pivot_root", AMD64: 155, ARM64: 41, Args: Args{Path, Path}, Op: Evade, Danger: Mounting, Capability: "CAP_SYS_ADMIN"},
	{Name: "chroot", AMD64: 161, ARM64: 51, Args: Args{Path}, Op: Evade, Danger: Mounting, Capability: "CAP_SYS_CHROOT"},
	{Name: "open_tree", AMD64: 428, ARM64: 428, Args: Args{Directory, Path, Hex}, Op: Evade, Returns: NewFile, Danger: Mounting, Refused: syscall.EPERM},
	{Name: "move_mount", AMD64: 429, ARM64: 429, Args: Args{Directory, Path, Directory, Path, Hex}, Op: Evade, Danger: Mounting, Refused: syscall.EPERM},
	{Name: "fsopen", AMD64: 430, ARM64: 430, Args: Args{Text, Hex}, Op: Evade, Returns: NewFile, Danger: Mounting, Refused: syscall.EPERM},
	{Name: "fsconfig", AMD64: 431, ARM64: 431, Args: Args{Descriptor, Decimal, Text, Pointer, Decimal}, Op: Evade, Danger: Mounting, Refused: syscall.EPERM},
	{Name: "fsmount", AMD64: 432, ARM64: 432, Args: Args{Descriptor, Hex, Hex}, Op: Evade, Returns: NewFile, Danger: Mounting, Refused: syscall.EPERM},
	{Name: "fspick", AMD64: 433, ARM64: 433, Args: Args{Directory, Path, Hex}, Op: Evade, Returns: NewFile, Danger: Mounting, Refused: syscall.EPERM},
	{Name: "mount_setattr", AMD64: 442, ARM64: 442, Args: Args{Directory, Path, Hex, Pointer, Decimal}, Op: Evade, Danger: Mounting},
	{Name: "unshare", AMD64: 272, ARM64: 97, Args: Args{NamespaceFlags}, Op: Unshare, Danger: NewNamespace, Refused: syscall.EPERM, Capability: "CAP_SYS_ADMIN"},
	{Name: "setns", AMD64: 308, ARM64: 268, Args: Args{Descriptor, NamespaceFlags}, Op: Evade, Danger: JoinNamespace, Refused: syscall.EPERM, Capability: "CAP_SYS_ADMIN"},

	// What only administrators do.
	{Name: "modify_ldt", AMD64: 154, ARM64: none, Family: segments},
	{Name: "bpf", AMD64: 321, ARM64: 280, Op: Evade, Returns: NewFile, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_BPF"},
	{Name: "perf_event_open", AMD64: 298, ARM64: 241, Op: Evade, Returns: NewFile, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_PERFMON"},
	{Name: "init_module", AMD64: 175, ARM64: 105, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_MODULE"},
	{Name: "finit_module", AMD64: 313, ARM64: 273, Args: Args{Descriptor, Text, Hex}, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_MODULE"},
	{Name: "delete_module", AMD64: 176, ARM64: 106, Args: Args{Text, Hex}, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_MODULE"},
	{Name: "kexec_load", AMD64: 246, ARM64: 104, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_BOOT"},
	{Name: "kexec_file_load", AMD64: 320, ARM64: 294, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_BOOT"},
	{Name: "clock_settime", AMD64: 227, ARM64: 112, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_TIME"},
	{Name: "settimeofday", AMD64: 164, ARM64: 170, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_TIME"},
	{Name: "reboot", AMD64: 169, ARM64: 142, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_BOOT"},
	{Name: "swapon", AMD64: 167, ARM64: 224, Args: Args{Path, Hex}, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_ADMIN"},
	{Name: "swapoff", AMD64: 168, ARM64: 225, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_ADMIN"},
	{Name: "acct", AMD64: 163, ARM64: 89, Args: Args{Path}, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_PACCT"},
	{Name: "quotactl", AMD64: 179, ARM64: 60, Op: Evade, Danger: Machine, Refused: syscall.EPERM},
	{Name: "quotactl_fd", AMD64: 443, ARM64: 443, Op: Evade, Danger: Machine, Refused: syscall.EPERM},
	{Name: "sethostname", AMD64: 170, ARM64: 161, Op: Evade, Danger: Machine, Capability: "CAP_SYS_ADMIN"},
	{Name: "setdomainname", AMD64: 171, ARM64: 162, Op: Evade, Danger: Machine, Capability: "CAP_SYS_ADMIN"},
	{Name: "vhangup", AMD64: 153, ARM64: 58, Args: Args{}, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_TTY_CONFIG"},
	{Name: "syslog", AMD64: 103, ARM64: 116, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYSLOG"},
	{Name: "iopl", AMD64: 172, ARM64: none, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_RAWIO"},
	{Name: "ioperm", AMD64: 173, ARM64: none, Op: Evade, Danger: Machine, Refused: syscall.EPERM, Capability: "CAP_SYS_RAWIO"},
}

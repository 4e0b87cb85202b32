// Package syscalls is the table of the system calls that are traced, one row for each
// (Table): what the tracers print of it, what the decoder makes of it, what the rules
// say of it, and what a policy for the server does with it. A new call is a row here
// and a program in test/conformance. It imports no other package of this module.
package syscalls

import (
	"runtime"
	"slices"
	"syscall"
)

// LastKnown is the highest number of a call that strace 6.1 can print: that of Linux
// 6.1 (set_mempolicy_home_node). The shim's filter answers newer ones with ENOSYS.
const LastKnown = 450

// Call is a system call.
type Call struct {
	// Name as in section 2 of the manual.
	Name string
	// AMD64 and ARM64 are its numbers; negative where the architecture has no such call.
	AMD64, ARM64 int
	// Args are printed by our own tracer, and tell the decoder where a path stands. Nil:
	// nobody reads them, six numbers are printed.
	Args    Args
	Returns Result
	// Op selects what the decoder makes of it; "" for a call that is traced only for
	// human readers of the trace, and for policies.
	Op Op
	// Danger says why OpEvade is one; "" for calls that hide nothing.
	Danger Danger
	// Refused is the error that the tracer gives in the kernel's place; 0 for none.
	Refused syscall.Errno
	// Capability is needed where the call fails with EPERM (capabilities(7)).
	Capability string
	// Family names the calls that do the same work, for policies.
	Family string
}

// Op says what kind of work a call does.
type Op string

// The kinds of work. Those from Write to Evade have the names of trace.Op.
const (
	Open Op = "open" // for reading or for writing, by its flags
	Look Op = "look" // whether a name exists, or what it refers to

	Write      Op = "write" // of a file, by its name
	Delete     Op = "delete"
	Rename     Op = "rename"
	Link       Op = "link"
	Attribute  Op = "attribute"
	Connect    Op = "connect"
	Bind       Op = "bind"
	Listen     Op = "listen"
	Accept     Op = "accept"
	Send       Op = "send"    // from a socket
	Receive    Op = "receive" // from a socket
	Exec       Op = "exec"
	Credential Op = "credential"
	Evade      Op = "evade"

	Input     Op = "input"  // from a descriptor that may be a file
	Output    Op = "output" // to one
	Move      Op = "move"   // from one descriptor to another
	Map       Op = "map"
	Memory    Op = "memory" // makes a file that has no place
	Chdir     Op = "chdir"
	Clone     Op = "clone"
	Session   Op = "session"
	Socket    Op = "socket"
	Pair      Op = "pair"
	Duplicate Op = "duplicate"
	// These evade by their arguments.
	Kill    Op = "kill"
	Prctl   Op = "prctl"
	Seccomp Op = "seccomp"
	Unshare Op = "unshare"
)

// Danger says how a program can hide by a call, or reach beyond itself.
type Danger string

// The dangers; what is said of each stands in runner/rules.
const (
	Tracing         Danger = "tracing"
	Signalling      Danger = "signalling"
	ForeignMemory   Danger = "foreign memory"
	AsyncIO         Danger = "asynchronous i/o"
	Mounting        Danger = "mounting"
	NewNamespace    Danger = "new namespace"
	JoinNamespace   Danger = "other namespace"
	SeccompListener Danger = "seccomp listener"
	Hiding          Danger = "hiding"
	WideSocket      Danger = "wide socket"
	FileHandle      Danger = "file handle"
	Keyrings        Danger = "key rings"
	Machine         Danger = "machine"
)

// Result says how the result of a call that worked is printed.
type Result int

// The results.
const (
	Number  Result = iota
	NewFile        // a descriptor
	NewTask        // a pid
	Address
)

// Args are the arguments of a call, at most six.
type Args []Arg

// Arg says how an argument is printed.
type Arg int

// The arguments.
const (
	Decimal      Arg = iota // int
	Long                    // 64-bit, signed
	Octal                   // a file mode
	Hex                     // flags that need no names, and the like
	Pointer                 // NULL or 0x...
	Times                   // [{tv_sec=1, tv_nsec=2}, ...] of access and of change
	Descriptor              // 3</path>
	Directory               // a descriptor that the path behind it is relative to
	Path                    // a name; a symbolic link stands for what it points at
	Entry                   // a name; a symbolic link stands for itself
	Text                    // another string that ends with 0
	Buffer                  // bytes that are passed in; the next argument is how many
	Vector                  // the same in an array of iovec
	Message                 // struct msghdr passed in
	Messages                // struct mmsghdr passed in
	SocketAddr              // struct sockaddr passed in; the next argument is its length
	Strings                 // argv or envp
	Process                 // a pid
	Signal                  // its number
	Capabilities            // struct __user_cap_data_struct
	PrctlValue              // by the first argument

	// What the call passes out is printed when it has returned.
	BufferOut
	VectorOut
	MessageOut
	MessagesOut
	SocketAddrOut // the next argument points to its length
	PairOut       // int[2] of descriptors

	// Flags and numbers with names.
	OpenFlags
	OpenHow
	CloneFlags
	CloneArgs
	NamespaceFlags
	RenameFlags
	AtFlags
	Domain
	SocketType
	Protection
	MapFlags
	PrctlOption
	SeccompOperation
	SeccompFlags
	PtraceRequest
	MemfdFlags
	KeyctlOperation
	MessageFlags
)

// Out reports whether an argument is known only when the call has returned.
func (a Arg) Out() bool { return a >= BufferOut && a <= PairOut }

// Index returns the place of the first argument of one of the kinds; -1 for none.
func (all Args) Index(kinds ...Arg) int {
	return slices.IndexFunc(all, func(a Arg) bool { return slices.Contains(kinds, a) })
}

// Number returns the number of the call on an architecture, by its name in Go; false
// where it has none.
func (c Call) Number(arch string) (number uint32, ok bool) {
	n := none
	switch arch {
	case "amd64":
		n = c.AMD64
	case "arm64":
		n = c.ARM64
	}
	return uint32(n), n >= 0 //nolint:gosec // none is said to be none
}

// Native is Number on the architecture of this program.
func (c Call) Native() (number uint32, ok bool) { return c.Number(runtime.GOARCH) }

// Counted reports whether each call makes a line of the trace. Our own tracer leaves
// out those that move bytes which nothing is to be learned from, and its filter the
// mappings that no file can be written through: that one of them was never made
// cannot be said.
func (c Call) Counted() bool {
	return !slices.Contains([]Op{Input, Output, Move, Map, Send, Receive}, c.Op)
}

// byName has the rows of the table.
var byName = func() map[string]*Call {
	all := make(map[string]*Call, len(Table))
	for i := range Table {
		all[Table[i].Name] = &Table[i]
	}
	return all
}()

// Find returns the row of a call; an empty one where it is not traced.
func Find(name string) Call {
	if c := byName[name]; c != nil {
		return *c
	}
	return Call{AMD64: none, ARM64: none}
}

// Refused lists the errors that the tracer gives in the kernel's place, each with
// its calls.
func Refused() map[syscall.Errno][]string {
	all := map[syscall.Errno][]string{}
	for _, c := range Table {
		if c.Refused != 0 {
			all[c.Refused] = append(all[c.Refused], c.Name)
		}
	}
	return all
}

// Names returns the names of the traced calls; not every architecture has each.
func Names() []string {
	all := make([]string, len(Table))
	for i, c := range Table {
		all[i] = c.Name
	}
	return all
}

// Family is a set of calls that do the same work: see the families of the table.
type Family struct {
	Name  string
	Calls []string
}

// Families returns the families, in the order of the table.
func Families() []Family {
	var all []Family
	for _, c := range Table {
		i := slices.IndexFunc(all, func(f Family) bool { return f.Name == c.Family })
		switch {
		case c.Family == "":
		case i < 0:
			all = append(all, Family{c.Family, []string{c.Name}})
		default:
			all[i].Calls = append(all[i].Calls, c.Name)
		}
	}
	return all
}

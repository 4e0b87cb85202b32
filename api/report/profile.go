package report

// Profile records what the server was seen to do, by capability. It is a record, not
// a judgement: an honest server has a profile too.
type Profile struct {
	Capabilities []CapabilityProfile `json:"capabilities"`
}

// CapabilityProfile records what was seen while one capability was exercised, or in
// a phase that belongs to none (Kind Server).
type CapabilityProfile struct {
	Kind  CapabilityKind `json:"kind"`
	Name  string         `json:"name,omitempty"`
	Phase Phase          `json:"phase"`
	// Late: what the capability left behind did, after its response. The same
	// capability may have a section of each kind.
	Late bool `json:"late,omitempty"`

	// Reads are files that were opened for reading, with success.
	Reads []FileAccess `json:"reads,omitempty"`
	// Writes are files that were created, changed, renamed or linked.
	Writes []FileAccess `json:"writes,omitempty"`
	// Deletes are files and directories that were removed.
	Deletes []FileAccess `json:"deletes,omitempty"`
	// Attempts are file accesses that failed.
	Attempts []FileAccess `json:"attempts,omitempty"`
	// Execs are programs that were started.
	Execs []Exec `json:"execs,omitempty"`
	// Connects are addresses that were connected or sent to, with or without success.
	Connects []Connection `json:"connects,omitempty"`
	// Listens are addresses that were listened on.
	Listens []Connection `json:"listens,omitempty"`

	// Dropped counts the distinct effects that the caps left out.
	Dropped int `json:"dropped,omitempty"`
}

// FileAccess is one file in one way of use.
type FileAccess struct {
	Path string `json:"path"`
	// Operation is the system call, such as "openat" or "unlink".
	Operation string `json:"operation"`
	// Error is the errno name of a failed access, such as "ENOENT".
	Error string `json:"error,omitempty"`
	// Count is how often; at least 1.
	Count int `json:"count"`
}

// Exec is one program start.
type Exec struct {
	Path  string   `json:"path"`
	Argv  []string `json:"argv,omitempty"`
	Error string   `json:"error,omitempty"`
	Count int      `json:"count"`
}

// Connection is one end point of the network.
type Connection struct {
	// Address is an IP address, or a path (or "@name") for a unix socket.
	Address string `json:"address"`
	// Port is 1 to 65535; 0 where the protocol has none.
	Port int `json:"port,omitempty"`
	// Protocol is "tcp", "udp", "unix", or the name of another family.
	Protocol string `json:"protocol"`
	// Host is the name that the address was looked up by, or that was asked of
	// a name server, when that was seen.
	Host string `json:"host,omitempty"`
	// Error is the errno name of a failed connect, such as "ECONNREFUSED".
	Error string `json:"error,omitempty"`
	Count int    `json:"count"`
	// BytesOut is how many bytes were sent there.
	BytesOut int64 `json:"bytesOut,omitempty"`
}

// Loopback reports whether the end point is the server's own machine.
func (c Connection) Loopback() bool {
	return c.Protocol == "unix" || isLoopback(c.Address)
}

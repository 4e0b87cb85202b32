package report

// Profile records what the server did, by capability. It does not judge: an honest server
// has a profile too.
type Profile struct {
	// capabilities and phases in which something was observed.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Capabilities []CapabilityProfile `json:"capabilities" cap:"512" shrink:"capabilities" counted:"profile.capabilities"`
}

// CapabilityProfile records what was observed while one capability was exercised, or in a
// phase without one (Kind Server).
type CapabilityProfile struct {
	// kind is Server, Tool, Resource, ResourceTemplate or Prompt.
	Kind CapabilityKind `json:"kind"`
	// name of the capability; empty for the server.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty" cap:"256"`
	// phase of the session.
	Phase Phase `json:"phase"`
	// late: this happened after the response, by what the call left running. A capability may
	// have one section that is late and one that is not.
	// +optional
	Late bool `json:"late,omitempty"`
	// reads are files that were successfully opened for reading.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Reads []FileAccess `json:"reads,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// writes are files that were created, changed, renamed or linked.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Writes []FileAccess `json:"writes,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// deletes are files and directories that were removed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Deletes []FileAccess `json:"deletes,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// attempts are file accesses that failed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Attempts []FileAccess `json:"attempts,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// execs are programs that were started.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Execs []Exec `json:"execs,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// connects are addresses that were connected or sent to, successfully or not.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Connects []Connection `json:"connects,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// listens are addresses that were listened on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Listens []Connection `json:"listens,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// dropped counts the distinct effects that the caps left out.
	// +optional
	// +kubebuilder:validation:Format=int64
	Dropped int `json:"dropped,omitempty"`
}

// FileAccess is one kind of access to one file.
type FileAccess struct {
	// path of the file.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path" cap:"512"`
	// operation is the system call, such as "openat" or "unlink".
	// +kubebuilder:validation:MaxLength=64
	Operation string `json:"operation"`
	// error is the errno name of a failed access, such as "ENOENT".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Error string `json:"error,omitempty"`
	// count is the number of times, at least 1.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
}

// Exec is one program start.
type Exec struct {
	// path of the program.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path" cap:"512"`
	// argv of the program.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=128
	Argv []string `json:"argv,omitempty" cap:"16x128" redact:"secrets"`
	// error is the errno name of a failed start.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Error string `json:"error,omitempty"`
	// count is the number of times.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
}

// Connection is one end point of the network.
type Connection struct {
	// address is an IP address, or a path (or "@name") for a unix socket.
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address" cap:"512"`
	// port is 1 to 65535; 0 if the protocol has none.
	// +optional
	// +kubebuilder:validation:Format=int32
	Port int `json:"port,omitempty"`
	// protocol is "tcp", "udp", "unix", or the name of another family.
	// +kubebuilder:validation:MaxLength=64
	Protocol string `json:"protocol"`
	// host is the name for which the address was looked up, or that a name server was asked for;
	// empty if unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty" cap:"256" redact:"secrets"`
	// error is the errno name of a failed connect, such as "ECONNREFUSED".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Error string `json:"error,omitempty"`
	// count is the number of times.
	// +kubebuilder:validation:Format=int64
	Count int `json:"count"`
	// bytesOut is the number of bytes that were sent there.
	// +optional
	BytesOut int64 `json:"bytesOut,omitempty"`
}

// Loopback reports whether the end point is on the server's own machine.
func (c Connection) Loopback() bool {
	return c.Protocol == "unix" || isLoopback(c.Address)
}

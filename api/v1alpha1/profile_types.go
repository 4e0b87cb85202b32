package v1alpha1

// Profile records what the server was seen to do, by capability. It is a record, not
// a judgement.
type Profile struct {
	// capabilities and phases in which something was seen.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Capabilities []CapabilityProfile `json:"capabilities"`
}

// CapabilityProfile records what was seen while one capability was exercised, or in
// a phase that belongs to none (kind Server).
type CapabilityProfile struct {
	// kind is Server, Tool, Resource, ResourceTemplate or Prompt.
	// +kubebuilder:validation:MaxLength=64
	Kind string `json:"kind"`
	// name of the capability; empty for the server.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// phase of the session.
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase"`
	// late says that what the capability had left behind did this, after its response.
	// +optional
	Late bool `json:"late,omitempty"`
	// reads are files that were opened for reading, with success.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Reads []FileAccess `json:"reads,omitempty"`
	// writes are files that were created, changed, renamed or linked.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Writes []FileAccess `json:"writes,omitempty"`
	// deletes are files and directories that were removed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Deletes []FileAccess `json:"deletes,omitempty"`
	// attempts are file accesses that failed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Attempts []FileAccess `json:"attempts,omitempty"`
	// execs are programs that were started.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Execs []Exec `json:"execs,omitempty"`
	// connects are addresses that were connected or sent to.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Connects []Connection `json:"connects,omitempty"`
	// listens are addresses that were listened on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Listens []Connection `json:"listens,omitempty"`
	// dropped counts the distinct effects that the caps left out.
	// +optional
	Dropped int64 `json:"dropped,omitempty"`
}

// FileAccess is one file in one way of use.
type FileAccess struct {
	// path of the file.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path"`
	// operation is the system call.
	// +kubebuilder:validation:MaxLength=64
	Operation string `json:"operation"`
	// error is the errno name of a failed access.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Error string `json:"error,omitempty"`
	// count is how often.
	Count int64 `json:"count"`
}

// Exec is one program start.
type Exec struct {
	// path of the program.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path"`
	// argv of the program.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=128
	Argv []string `json:"argv,omitempty"`
	// error is the errno name of a failed start.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Error string `json:"error,omitempty"`
	// count is how often.
	Count int64 `json:"count"`
}

// Connection is one end point of the network.
type Connection struct {
	// address is an IP address, or the path of a unix socket.
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address"`
	// port is 0 where the protocol has none.
	// +optional
	Port int32 `json:"port,omitempty"`
	// protocol is tcp, udp, unix, or the name of another family.
	// +kubebuilder:validation:MaxLength=64
	Protocol string `json:"protocol"`
	// host is the name that the address was looked up by.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty"`
	// error is the errno name of a failed connect.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Error string `json:"error,omitempty"`
	// count is how often.
	Count int64 `json:"count"`
	// bytesOut is how many bytes were sent there.
	// +optional
	BytesOut int64 `json:"bytesOut,omitempty"`
}

// Capture holds what one connection, or one datagram, brought to the sinkhole.
type Capture struct {
	// address that the server meant to reach.
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address"`
	// port is 0 where the protocol has none.
	// +optional
	Port int32 `json:"port,omitempty"`
	// host is the name that the address stands for.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty"`
	// protocol that was spoken.
	// +kubebuilder:validation:MaxLength=64
	Protocol string `json:"protocol"`
	// request says in one line what was asked.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Request string `json:"request,omitempty"`
	// bytes is how much the server sent.
	Bytes int64 `json:"bytes"`
	// excerpt is the beginning of it, secrets shortened.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Excerpt string `json:"excerpt,omitempty"`
	// opaque means that it was encrypted for somebody else.
	// +optional
	Opaque bool `json:"opaque,omitempty"`
	// capability that was exercised.
	Capability Capability `json:"capability"`
}

// Gap is something that the audit could not see into.
type Gap struct {
	// what it is, in a word.
	// +kubebuilder:validation:MaxLength=64
	What string `json:"what"`
	// count is how often.
	Count int64 `json:"count"`
	// detail says it in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail,omitempty"`
}

// Noise counts the effects that are left out of the profile for one reason.
type Noise struct {
	// reason in a word.
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// count is how often.
	Count int64 `json:"count"`
	// samples are some of them, where they were asked for.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Samples []string `json:"samples,omitempty"`
}

package report

import "cmp"

// Privileges lists what the server needed from the machine. runner/least makes policies from
// it. It only has what the audit made the server do. It is nil if nothing was traced, and no
// digest covers it.
type Privileges struct {
	// uid that the server ran as.
	UID int64 `json:"uid"`
	// gid that the server ran as.
	GID int64 `json:"gid"`
	// home is the value of HOME in the audit, if the server wrote below it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Home string `json:"home,omitempty" cap:"512"`
	// calls are the system calls that were made, among those that the tracer always reports, by
	// their names in section 2 of the manual, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Calls []string `json:"calls,omitempty" cap:"256x64" tally:"Dropped"`
	// unmade are the system calls that the tracer always reports and that were not made. Whether
	// a call in neither list was made is unknown.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Unmade []string `json:"unmade,omitempty" cap:"256x64" tally:"Dropped"`
	// sockets are the address families of its sockets, such as "inet" or "unix".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	Sockets []string `json:"sockets,omitempty" cap:"16x64" tally:"Dropped"`
	// processes: it started processes, not only threads.
	// +optional
	Processes bool `json:"processes,omitempty"`
	// writes are the directories in which it successfully created, changed or removed something,
	// except those below /tmp, /dev and /proc.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Writes []WrittenDirectory `json:"writes,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// egress are the end points outside the machine that it connected or sent to, or tried to.
	// Port 53 is a name server.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Egress []Peer `json:"egress,omitempty" cap:"128" shrink:"peers" tally:"Dropped"`
	// listens are the ports that it listened on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Listens []Peer `json:"listens,omitempty" cap:"128" shrink:"peers" tally:"Dropped"`
	// capabilities lists those of capabilities(7) whose absence probably made a system call fail.
	// The server ran without them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	Capabilities []string `json:"capabilities,omitempty" cap:"64x64" tally:"Dropped"`
	// dropped counts the entries that the caps left out. If it is not 0, a policy made from the
	// lists would forbid something that the server does.
	// +optional
	// +kubebuilder:validation:Format=int64
	Dropped int `json:"dropped,omitempty"`
}

// WrittenDirectory is a directory that the server wrote to.
type WrittenDirectory struct {
	// path of the directory.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path" cap:"512" tally:"Dropped" redact:"secrets"`
	// created: the server made the directory in this or an earlier launch, so it has no files of
	// the image.
	// +optional
	Created bool `json:"created,omitempty"`
}

// Peer is one end point of the network.
type Peer struct {
	// host is the name that was looked up; empty if only an address was used.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty" cap:"256" redact:"secrets"`
	// address, if there was no name.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Address string `json:"address,omitempty" cap:"64"`
	// port is 1 to 65535.
	// +kubebuilder:validation:Format=int32
	Port int `json:"port"`
	// protocol is tcp or udp.
	// +kubebuilder:validation:MaxLength=64
	Protocol string `json:"protocol" cap:"64"`
}

// ComparePeers orders them.
func ComparePeers(a, b Peer) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port),
		cmp.Compare(a.Protocol, b.Protocol))
}

package report

import "cmp"

// Privileges lists what the server needed of the machine, in the form that a policy
// for it is made of (runner/least). It is a record of what was exercised and no
// more: what the audit did not make the server do is not in it.
//
// It is nil where nothing was traced. It is no part of the manifest's digest or of
// the behaviour's.
type Privileges struct {
	// uid that the server was started as.
	UID int64 `json:"uid"`
	// gid that the server was started as.
	GID int64 `json:"gid"`
	// home is HOME in the audit, where the server wrote below it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Home string `json:"home,omitempty" cap:"512"`
	// calls are the system calls that were made, of those that the tracer reports each
	// time, by their names in section 2 of the manual, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Calls []string `json:"calls,omitempty" cap:"256x64" tally:"Dropped"`
	// unmade are the others of these. Of a call that is in neither nothing is known.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Unmade []string `json:"unmade,omitempty" cap:"256x64" tally:"Dropped"`
	// sockets are the address families of the sockets that it made: "inet", "unix".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	Sockets []string `json:"sockets,omitempty" cap:"16x64" tally:"Dropped"`
	// processes: it started processes, and not only threads.
	// +optional
	Processes bool `json:"processes,omitempty"`
	// writes are the directories in which it created, changed or removed something,
	// with success, but for those below /tmp, /dev and /proc.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Writes []WrittenDirectory `json:"writes,omitempty" cap:"64" shrink:"effects" tally:"Dropped"`
	// egress are the end points outside the machine that it connected or sent to,
	// or tried to; those of port 53 are name servers.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Egress []Peer `json:"egress,omitempty" cap:"128" shrink:"peers" tally:"Dropped"`
	// listens are the ports that it listened on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Listens []Peer `json:"listens,omitempty" cap:"128" shrink:"peers" tally:"Dropped"`
	// capabilities are those of capabilities(7) whose lack is the likely reason why
	// one of its calls failed. It did without them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	Capabilities []string `json:"capabilities,omitempty" cap:"64x64" tally:"Dropped"`
	// dropped counts what the lists had no room for. Not 0: a policy that is made of
	// them would forbid what the server does.
	// +optional
	// +kubebuilder:validation:Format=int64
	Dropped int `json:"dropped,omitempty"`
}

// WrittenDirectory is a directory that the server wrote to.
type WrittenDirectory struct {
	// path of the directory.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path" cap:"512" tally:"Dropped" redact:"secrets"`
	// created: the server made the directory itself, or found it made by an earlier
	// start of its own, so that nothing of the image can be in it.
	// +optional
	Created bool `json:"created,omitempty"`
}

// Peer is one end point of the network.
type Peer struct {
	// host is the name by which it was looked up; empty if it was reached by address only.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty" cap:"256" redact:"secrets"`
	// address by which it was reached, where there was no name.
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

package v1alpha1

// Privileges lists what the server needed of the machine: what a policy for it is made of.
type Privileges struct {
	// uid that the server was started as.
	UID int64 `json:"uid"`
	// gid that the server was started as.
	GID int64 `json:"gid"`
	// home is HOME in the audit, where the server wrote below it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Home string `json:"home,omitempty"`
	// calls are the system calls that were made, of those that are always reported.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Calls []string `json:"calls,omitempty"`
	// unmade are the others of these.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Unmade []string `json:"unmade,omitempty"`
	// sockets are the address families of its sockets.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	Sockets []string `json:"sockets,omitempty"`
	// processes: it started processes, and not only threads.
	// +optional
	Processes bool `json:"processes,omitempty"`
	// writes are the directories that it wrote to, but for those below /tmp.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Writes []WrittenDirectory `json:"writes,omitempty"`
	// egress are the end points that it connected or sent to, or tried to.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Egress []Peer `json:"egress,omitempty"`
	// listens are the ports that it listened on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Listens []Peer `json:"listens,omitempty"`
	// capabilities whose lack is the likely reason why calls failed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	Capabilities []string `json:"capabilities,omitempty"`
	// dropped counts what the lists had no room for.
	// +optional
	Dropped int64 `json:"dropped,omitempty"`
}

// WrittenDirectory is a directory that the server wrote to.
type WrittenDirectory struct {
	// path of the directory.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path"`
	// created: the server made it itself.
	// +optional
	Created bool `json:"created,omitempty"`
}

// Peer is one end point of the network.
type Peer struct {
	// host is the name by which it was looked up.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Host string `json:"host,omitempty"`
	// address by which it was reached, where there was no name.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Address string `json:"address,omitempty"`
	// port of the end point.
	Port int32 `json:"port"`
	// protocol is tcp or udp.
	// +kubebuilder:validation:MaxLength=64
	Protocol string `json:"protocol"`
}

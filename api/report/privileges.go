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
	Home string `json:"home,omitempty"`
	// calls are the system calls that were made, of those that the tracer reports each
	// time, by their names in section 2 of the manual, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Calls []string `json:"calls,omitempty"`
	// unmade are the others of these. Of a call that is in neither nothing is known.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=64
	Unmade []string `json:"unmade,omitempty"`
	// sockets are the address families of the sockets that it made: "inet", "unix".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	Sockets []string `json:"sockets,omitempty"`
	// processes: it started processes, and not only threads.
	// +optional
	Processes bool `json:"processes,omitempty"`
	// writes are the directories in which it created, changed or removed something,
	// with success, but for those below /tmp, /dev and /proc.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Writes []WrittenDirectory `json:"writes,omitempty"`
	// egress are the end points outside the machine that it connected or sent to,
	// or tried to; those of port 53 are name servers.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Egress []Peer `json:"egress,omitempty"`
	// listens are the ports that it listened on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Listens []Peer `json:"listens,omitempty"`
	// capabilities are those of capabilities(7) whose lack is the likely reason why
	// one of its calls failed. It did without them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	Capabilities []string `json:"capabilities,omitempty"`
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
	Path string `json:"path"`
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
	Host string `json:"host,omitempty"`
	// address by which it was reached, where there was no name.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Address string `json:"address,omitempty"`
	// port is 1 to 65535.
	// +kubebuilder:validation:Format=int32
	Port int `json:"port"`
	// protocol is tcp or udp.
	// +kubebuilder:validation:MaxLength=64
	Protocol string `json:"protocol"`
}

// ComparePeers orders them.
func ComparePeers(a, b Peer) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port),
		cmp.Compare(a.Protocol, b.Protocol))
}

// The caps of the lists of Privileges.
const (
	MaxPrivilegedCalls = 256
	MaxSockets         = 16
	MaxWrites          = 64
	MaxPeers           = 128
	MaxLinuxCaps       = 64
)

// privileges trims them. What is cut is counted, for a policy has to be made of all.
func (t *trimmer) privileges(p *Privileges, to limits) {
	if p == nil {
		return
	}
	before := p.entries()
	p.Calls, p.Unmade = p.Calls[:min(len(p.Calls), MaxPrivilegedCalls)], p.Unmade[:min(len(p.Unmade), MaxPrivilegedCalls)]
	p.Sockets = p.Sockets[:min(len(p.Sockets), MaxSockets)]
	p.Capabilities = p.Capabilities[:min(len(p.Capabilities), MaxLinuxCaps)]
	for _, list := range []*[]string{&p.Calls, &p.Unmade, &p.Sockets, &p.Capabilities} {
		for i := range *list {
			t.excerpt(&(*list)[i], MaxArgBytes/2)
		}
	}
	t.excerpt(&p.Home, MaxPathBytes)
	p.Writes = p.Writes[:min(len(p.Writes), MaxWrites, to.effects)]
	for i := range p.Writes {
		if t.excerpt(&p.Writes[i].Path, MaxPathBytes) {
			p.Dropped++ // half a path is none
		}
	}
	for list, most := range map[*[]Peer]int{&p.Egress: min(MaxPeers, 2*to.effects), &p.Listens: min(MaxPeers, 2*to.effects)} {
		*list = (*list)[:min(len(*list), most)]
		for i := range *list {
			t.excerpt(&(*list)[i].Host, MaxNameBytes)
			t.excerpt(&(*list)[i].Address, MaxArgBytes/2)
			t.excerpt(&(*list)[i].Protocol, MaxArgBytes/2)
		}
	}
	p.Dropped += before - p.entries()
}

func (p *Privileges) entries() int {
	return len(p.Calls) + len(p.Unmade) + len(p.Sockets) + len(p.Capabilities) + len(p.Writes) + len(p.Egress) + len(p.Listens)
}

package report

// Behavior is what a server did, without what differs from one run to the next:
// counts, times, process numbers, ports of its own, names made up for a run. Two
// audits of the same server with the same inputs have the same.
type Behavior struct {
	// Digest is "sha256:" and 64 hex digits over the entries; empty when the audit
	// did not see everything.
	Digest string `json:"digest,omitempty"`
	// Entries are sorted, each of the form "connect api.example.com:443",
	// "execute git", "read ~/.config/", "write /tmp/", "listen tcp".
	Entries []string `json:"entries,omitempty"`
}

// BehaviorDrift is what a server does that it did not, and did that it does not.
type BehaviorDrift struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// BaselineDrift is how an audit differs from the one that it was compared with.
type BaselineDrift struct {
	// ManifestDigest and BehaviorDigest are those of the baseline.
	ManifestDigest string        `json:"manifestDigest,omitempty"`
	BehaviorDigest string        `json:"behaviorDigest,omitempty"`
	Manifest       Drift         `json:"manifest"`
	Behavior       BehaviorDrift `json:"behavior"`
}

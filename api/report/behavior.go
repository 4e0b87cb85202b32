package report

import (
	"slices"
	"strings"
)

// Behavior describes what a server did, without what differs between runs: counts, times,
// process numbers, its own ports, generated names. Two audits of the same server with the
// same inputs have the same behaviour.
type Behavior struct {
	// digest is "sha256:" and 64 hex digits over the entries, each followed by a newline; empty
	// if the audit could not observe everything.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest,omitempty"`
	// entries, sorted, such as "connect api.example.com:443", "execute git", "read ~/.config/",
	// "write /tmp/" and "listen tcp".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=512
	Entries []string `json:"entries,omitempty" cap:"512x512" shrink:"behavior" redact:"secrets"`
}

// BehaviorOf makes a Behavior from entries in any order. That of an incomplete audit has no
// digest.
func BehaviorOf(entries []string, incomplete bool) Behavior {
	entries = slices.Clone(entries)
	slices.Sort(entries)
	entries = slices.Compact(entries)
	b := Behavior{Entries: entries}
	if !incomplete && len(entries) <= MaxBehavior {
		b.Digest = "sha256:" + Sum([]byte(strings.Join(entries, "\n")+"\n"))
	}
	return b
}

// BehaviorDrift lists how the behaviour of a server differs from an earlier audit.
type BehaviorDrift struct {
	// added since the baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Added []string `json:"added,omitempty" cap:"32x512" redact:"secrets"`
	// removed since the baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Removed []string `json:"removed,omitempty" cap:"32x512" redact:"secrets"`
}

// Empty reports whether nothing differs.
func (d BehaviorDrift) Empty() bool { return len(d.Added)+len(d.Removed) == 0 }

// BaselineDrift describes the differences between an audit and that of its baseline.
type BaselineDrift struct {
	// manifestDigest of the baseline.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	ManifestDigest string `json:"manifestDigest,omitempty"`
	// behaviorDigest of the baseline.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	BehaviorDigest string `json:"behaviorDigest,omitempty"`
	// manifest lists the differences of the manifest.
	Manifest Drift `json:"manifest"`
	// behavior lists the differences of the behavior.
	Behavior BehaviorDrift `json:"behavior"`
	// exposure lists what the server enables since the baseline, such as "tool run:
	// CommandExecution (Arbitrary), was Partial".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Exposure []string `json:"exposure,omitempty" cap:"32x512" redact:"secrets"`
}

// DiffBehavior compares two lists of entries.
func DiffBehavior(before, after Behavior) BehaviorDrift {
	d := BehaviorDrift{Added: missing(after.Entries, before.Entries), Removed: missing(before.Entries, after.Entries)}
	slices.Sort(d.Added)
	slices.Sort(d.Removed)
	return d
}

// missing returns the elements of a list that another list does not have.
func missing[T comparable](from, other []T) []T {
	have := make(map[T]bool, len(other))
	for _, element := range other {
		have[element] = true
	}
	return slices.DeleteFunc(slices.Clone(from), func(element T) bool { return have[element] })
}

// alike reports whether two audits exercised a server in the same way. Only then does the
// absence of an entry mean something.
func alike(a, b Report) bool {
	return a.Probe.Seed == b.Probe.Seed && a.Probe.Rounds == b.Probe.Rounds && a.Probe.Calls == b.Probe.Calls && a.Probe.Depth == b.Probe.Depth &&
		a.Network == b.Network && a.Server.Transport == b.Server.Transport
}

// grave reports whether an entry is more than reading files of the system or the server.
func grave(entry string) bool {
	place, read := strings.CutPrefix(entry, "read ")
	return !read || slices.ContainsFunc([]string{"~", "/home/", "/root/", "/proc/PID/", "/run/", "/var/run/"}, func(prefix string) bool {
		return strings.HasPrefix(place, prefix)
	})
}

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Suppression says that a finding is known and accepted for a time.
type Suppression struct {
	// rule is the id of the rule, such as MCPA-EGRESS-001.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^MCPA-[A-Z]+-[0-9]{3}$`
	// +kubebuilder:validation:XValidation:rule="self != 'MCPA-MANIFEST-001'",message="a changed manifest is approved by spec.baseline: mode Pinned with its manifestDigest"
	Rule string `json:"rule"`
	// match is a text that the finding's message or capability has as a whole word,
	// host or path; "*" matches every finding of the rule that is not Critical.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self == '*' || size(self) >= 3",message="match needs at least 3 characters of the finding's message or capability, or \"*\""
	Match string `json:"match"`
	// reason says to whoever reads it why this is acceptable.
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`
	// until is when it ends, as in 2026-12-31T00:00:00Z, at most a year ahead. From
	// then on the finding counts again.
	Until metav1.Time `json:"until"`
}

// MaxScopeBytes is the most bytes that the entries of declaredScope take together:
// they go to the runner in an environment variable, see execve(2).
const MaxScopeBytes = 32 << 10

// DeclaredScope lists what the server may do. A list that is absent says nothing, so
// that what the manifest declares counts; one that is there is all that is allowed,
// and an empty one allows nothing.
type DeclaredScope struct {
	// egress are hosts ("api.example.com", "*.example.com"), addresses and CIDR
	// blocks, each for all ports or with one behind it: "10.0.0.0/8", "api.example.com:443".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Egress []string `json:"egress,omitzero"`
	// readPaths are absolute paths; one that ends with "/" is a directory and all that
	// is below it, "*" any part of one name, "~/" the home directory.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	ReadPaths []string `json:"readPaths,omitzero"`
	// writePaths are paths as in readPaths.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	WritePaths []string `json:"writePaths,omitzero"`
	// exec are programs, by name or absolute path.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Exec []string `json:"exec,omitzero"`
	// listen are ports ("8080"), or addresses with one ("127.0.0.1:8080").
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Listen []string `json:"listen,omitzero"`
}

// ScopeClause is one thing that the declaration was understood to say.
type ScopeClause struct {
	// source is Spec, ServerJSON, Annotation or Text.
	// +kubebuilder:validation:MaxLength=64
	Source string `json:"source"`
	// capability whose declaration it is.
	Capability Capability `json:"capability"`
	// field is where it stands.
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field"`
	// means says how it was understood.
	// +kubebuilder:validation:MaxLength=256
	Means string `json:"means"`
	// quote is the sentence, or the entry.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Quote string `json:"quote,omitempty"`
}

// Risk is made of what was found; no verdict depends on it.
type Risk struct {
	// score is 0 to 100.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Score int32 `json:"score"`
	// level is None, Low, Medium, High or Critical.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Level string `json:"level,omitempty"`
	// parts make up the score.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Parts []RiskPart `json:"parts,omitempty"`
}

// RiskPart says what one family of capabilities adds to the score.
type RiskPart struct {
	// family of capabilities.
	// +kubebuilder:validation:MaxLength=64
	Family string `json:"family"`
	// points of the score.
	Points int32 `json:"points"`
	// because says what was seen.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Because string `json:"because,omitempty"`
}

// Behavior describes what the server did, in a form that can be compared.
type Behavior struct {
	// digest over the entries; empty when the audit did not see everything.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest,omitempty"`
	// entries such as "connect api.example.com:443".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=512
	Entries []string `json:"entries,omitempty"`
}

// BehaviorDrift is how behavior differs.
type BehaviorDrift struct {
	// added since the baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Added []string `json:"added,omitempty"`
	// removed since the baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Removed []string `json:"removed,omitempty"`
}

// BaselineDrift is how an audit differs from the one that it was compared with.
type BaselineDrift struct {
	// manifestDigest of the baseline.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	ManifestDigest string `json:"manifestDigest,omitempty"`
	// behaviorDigest of the baseline.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	BehaviorDigest string `json:"behaviorDigest,omitempty"`
	// manifest is how the manifest differs.
	Manifest ReportedDrift `json:"manifest"`
	// behavior is how the behavior differs.
	Behavior BehaviorDrift `json:"behavior"`
}

// Suppressed says by what a finding is suppressed, or was.
type Suppressed struct {
	// reason of the suppression.
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`
	// until when.
	Until Timestamp `json:"until"`
	// expired: it is suppressed no more.
	// +optional
	Expired bool `json:"expired,omitempty"`
}

// ReportedDrift lists what changed from one manifest to another. Entries read
// "tool format_note".
type ReportedDrift struct {
	// added items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Added []string `json:"added,omitempty"`
	// removed items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Removed []string `json:"removed,omitempty"`
	// changed items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Changed []string `json:"changed,omitempty"`
	// renamed items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Renamed []string `json:"renamed,omitempty"`
	// changes are the texts of what changed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Changes []Change `json:"changes,omitempty"`
}

// Change is one text of an item, or one member of its schema.
type Change struct {
	// capability reads "tool format_note".
	// +kubebuilder:validation:MaxLength=512
	Capability string `json:"capability"`
	// field is a path: "inputSchema.properties.path.type".
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field"`
	// before the change.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Before string `json:"before,omitempty"`
	// after the change.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	After string `json:"after,omitempty"`
}

// Incomplete is why an audit could not observe everything.
type Incomplete struct {
	// reason in a word.
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// message says it in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

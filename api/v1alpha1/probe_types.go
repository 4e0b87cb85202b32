package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Probe is how the server is exercised. What is not given has a default, which
// the runner knows as well: an audit from before there was a probe is made with it.
type Probe struct {
	// calls says which tools may be called. All, the default with server.image, calls
	// every tool: it is a sandbox. ReadOnlyHinted, the default with server.url, which
	// is none, calls those that say readOnlyHint; resources and prompts are read as
	// well. Never lists what there is and exercises nothing. What is left out was not
	// audited: unless it was nothing, the verdict is not Pass but Inconclusive for the
	// reason NotExercised.
	// +optional
	Calls ProbeCalls `json:"calls,omitempty"`

	// rounds is how often everything is exercised, from 1 to 10. A server that
	// turns on its user after some calls is only seen by more rounds than that.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Rounds int32 `json:"rounds,omitempty"`

	// maxCallsPerTool is how often one tool is called at most, over all rounds, from
	// 1 to 1000. Tools with many optional arguments need many calls: the report's
	// branches say how many of their alternatives were taken.
	// +optional
	// +kubebuilder:default=24
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxCallsPerTool int32 `json:"maxCallsPerTool,omitempty"`

	// callTimeout is how long a call may take before it is cancelled, from 1s to
	// 10m. The sum of all is bounded by spec.timeout.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="callTimeout must be between 1s and 10m"
	CallTimeout metav1.Duration `json:"callTimeout,omitzero"`

	// inputs are arguments that nobody could guess, such as the name of a project
	// that exists. Together they may have 32 KiB.
	// +optional
	// +listType=map
	// +listMapKey=tool
	// +kubebuilder:validation:MaxItems=64
	Inputs []ToolInput `json:"inputs,omitempty"`

	// skipTools are the names of tools that are not called. See calls for what that
	// does to the verdict.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	SkipTools []string `json:"skipTools,omitempty"`

	// seed makes the arguments: the same seed gives the same ones again.
	// +optional
	Seed int64 `json:"seed,omitempty"`

	// depth says which launches an audit makes. Quick exercises the server and starts it again, as
	// it is and for another client; what it would do at a later date, in other surroundings or
	// under attack is not seen, and the assurance is Partial at most. Standard makes all launches.
	// Deep makes them too, and gives each that is bounded four times the time: with a spec.timeout
	// to match, for audits at night.
	// +optional
	// +kubebuilder:default=Standard
	Depth ProbeDepth `json:"depth,omitempty"`

	// attack says whether the server is started once more to try its guards: each tool is
	// called with what it should refuse. What it does then counts for findings about its
	// guards, and for nothing else. A server that is audited by its URL is never attacked.
	// +optional
	// +kubebuilder:default=On
	Attack ProbeAttack `json:"attack,omitempty"`
}

// ProbeDepth is Quick, Standard or Deep.
// +kubebuilder:validation:Enum=Quick;Standard;Deep
type ProbeDepth string

// The choices, as package report has them.
const (
	ProbeDepthQuick    ProbeDepth = "Quick"
	ProbeDepthStandard ProbeDepth = "Standard"
	ProbeDepthDeep     ProbeDepth = "Deep"
)

// ProbeAttack is On or Off.
// +kubebuilder:validation:Enum=On;Off
type ProbeAttack string

// The choices, as package plan has them.
const (
	ProbeAttackOn  ProbeAttack = "On"
	ProbeAttackOff ProbeAttack = "Off"
)

// ProbeCalls is All, ReadOnlyHinted or Never.
// +kubebuilder:validation:Enum=All;ReadOnlyHinted;Never
type ProbeCalls string

// The choices, as package report has them.
const (
	ProbeCallsAll            ProbeCalls = "All"
	ProbeCallsReadOnlyHinted ProbeCalls = "ReadOnlyHinted"
	ProbeCallsNever          ProbeCalls = "Never"
)

// MaxInputBytes is the most bytes of JSON that the arguments of probe.inputs take
// together. The API cannot bound them: an audit with more is Inconclusive.
const MaxInputBytes = 32 << 10

// MaxScopeBytes is the most bytes that the entries of declaredScope take together:
// they go to the runner in an environment variable, see execve(2).
const MaxScopeBytes = 32 << 10

// ToolInput are arguments for one tool.
type ToolInput struct {
	// tool is the name of the tool.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Tool string `json:"tool"`

	// arguments, by the name of the property: they are sent in place of what would
	// be made up for these; the others are made up as ever.
	// +required
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:pruning:PreserveUnknownFields
	Arguments runtime.RawExtension `json:"arguments"`
}

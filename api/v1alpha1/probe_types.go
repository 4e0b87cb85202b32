package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// Probe says how the server is exercised. Every field has a default.
type Probe struct {
	// calls says which tools may be called. All, the default with server.image, calls every
	// tool. ReadOnlyHinted, the default with server.url, which has no sandbox, calls tools with
	// readOnlyHint, and reads resources and prompts. Never lists capabilities without calling
	// any. If a capability is left out, the verdict is Inconclusive instead of Pass, with reason
	// NotExercised.
	// +optional
	// +kubebuilder:validation:Enum=All;ReadOnlyHinted;Never
	Calls report.Calls `json:"calls,omitempty"`

	// rounds is the number of times that everything is exercised, from 1 to 10; 3 by default. More rounds can
	// expose a server that only misbehaves after some calls.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Rounds int32 `json:"rounds,omitempty"`

	// maxCallsPerTool is the most calls of one tool over all rounds, from 1 to 1000; 24 by
	// default. Tools with many optional arguments need many calls; branches in the report count
	// the alternatives that were taken.
	// +optional
	// +kubebuilder:default=24
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxCallsPerTool int32 `json:"maxCallsPerTool,omitempty"`

	// callTimeout limits one call, which is then cancelled, from 1s to 10m; 30s by
	// default. spec.timeout bounds all calls together.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="callTimeout must be between 1s and 10m"
	CallTimeout metav1.Duration `json:"callTimeout,omitzero"`

	// inputs are arguments that nobody could guess, such as the name of an existing project. All
	// together may have at most 32 KiB.
	// +optional
	// +listType=map
	// +listMapKey=tool
	// +kubebuilder:validation:MaxItems=64
	Inputs []ToolInput `json:"inputs,omitempty"`

	// skipTools are the names of tools that are not called. As with calls, leaving a tool out
	// makes a Pass Inconclusive.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	SkipTools []string `json:"skipTools,omitempty"`

	// seed of the generated arguments: the same seed gives the same arguments; 0 by default.
	// +optional
	Seed int64 `json:"seed,omitempty"`

	// depth says how often the server is launched. Quick exercises it and launches it again,
	// unchanged and for another client; it does not test a later date, other surroundings or
	// attacks, and its assurance is at most Partial. Standard, the default, makes all launches.
	// Deep also gives each bounded launch four times the time; raise spec.timeout with it.
	// +optional
	// +kubebuilder:default=Standard
	// +kubebuilder:validation:Enum=Quick;Standard;Deep
	Depth report.Depth `json:"depth,omitempty"`

	// attack says whether the server is launched once more to try its guards: each tool is
	// called with arguments that it should refuse. What the server does then only counts for
	// findings about its guards. On by default; a server with a URL is never attacked.
	// +optional
	// +kubebuilder:default=On
	// +kubebuilder:validation:Enum=On;Off
	Attack plan.Attack `json:"attack,omitempty"`
}

// MaxInputBytes bounds the JSON of all arguments of probe.inputs together. The API cannot
// enforce it: an audit with more is Inconclusive.
const MaxInputBytes = 32 << 10

// MaxScopeBytes bounds all entries of declaredScope together: the runner gets them in an
// environment variable, see execve(2).
const MaxScopeBytes = 32 << 10

// ToolInput are arguments for one tool.
type ToolInput struct {
	// tool is the name of the tool.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Tool string `json:"tool"`

	// arguments by the name of the property. They replace generated ones; the properties that
	// are not given are still generated.
	// +required
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:pruning:PreserveUnknownFields
	Arguments runtime.RawExtension `json:"arguments"`
}

package report

// Transport names the transport of an MCP server.
type Transport string

// The transports (specification 2025-11-25, basic/transports).
const (
	// TransportStdio: lines on stdin and stdout.
	TransportStdio Transport = "Stdio"
	// TransportStreamableHTTP: one endpoint for POST, and GET for a stream.
	TransportStreamableHTTP Transport = "StreamableHTTP"
	// TransportSSE: the HTTP+SSE transport of revision 2024-11-05.
	TransportSSE Transport = "SSE"
)

// Transports lists all transports, the default first.
var Transports = []Transport{TransportStdio, TransportStreamableHTTP, TransportSSE}

// Endpoint is the address of a server that listens.
type Endpoint struct {
	// port is the TCP port.
	// +kubebuilder:validation:Format=int32
	Port int `json:"port"`
	// path of the URL.
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path" cap:"512"`
}

// Calls says which of the tools may be called.
type Calls string

// The choices.
const (
	CallsAll Calls = "All"
	// CallsReadOnlyHinted: tools with readOnlyHint, and everything that is not a tool.
	CallsReadOnlyHinted Calls = "ReadOnlyHinted"
	// CallsNever: everything is listed, nothing is exercised.
	CallsNever Calls = "Never"
)

// CallsChoices lists all choices, the default first.
var CallsChoices = []Calls{CallsAll, CallsReadOnlyHinted, CallsNever}

// Depth says which launches an audit makes, and how long they may take.
type Depth string

// The depths.
const (
	// DepthQuick: the server is exercised, and launched again unchanged and for another client.
	DepthQuick Depth = "Quick"
	// DepthStandard: all launches.
	DepthStandard Depth = "Standard"
	// DepthDeep: all launches, with four times the time for each bounded one.
	DepthDeep Depth = "Deep"
)

// Depths lists all depths, the shallowest first.
var Depths = []Depth{DepthQuick, DepthStandard, DepthDeep}

// ProbeRun says how the server was exercised.
type ProbeRun struct {
	// seed of the generated arguments: the same seed gives the same arguments.
	Seed int64 `json:"seed"`
	// rounds is the number of times that everything was exercised.
	// +kubebuilder:validation:Format=int32
	Rounds int `json:"rounds"`
	// calls says which tools could be called: All, ReadOnlyHinted or Never.
	// +kubebuilder:validation:MaxLength=64
	Calls Calls `json:"calls"`
	// depth says which launches were planned: Quick, Standard or Deep. Absent in reports of
	// earlier versions.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Depth Depth `json:"depth,omitempty"`
	// launches is the number of times that the server was launched.
	// +kubebuilder:validation:Format=int32
	Launches int `json:"launches"`
	// runs are the launches in order, including those that were not made.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Runs []Launch `json:"runs,omitempty" cap:"16"`
}

// Launch is one launch of the server, or the reason why it was not made.
type Launch struct {
	// for is Exercise, Restart, Identity, Clock, Week, Disguise, StandIns, Refused, Decoys or Attack.
	For Moment `json:"for"`
	// skipped is the reason why the launch was not made; absent if it was.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Skipped string `json:"skipped,omitempty" cap:"512"`
	// seconds is the duration of the launch, rounded up; absent if it was not made.
	// +optional
	// +kubebuilder:validation:Format=int32
	Seconds int `json:"seconds,omitempty"`
	// standIns are programs that the server had missed. The audit replaced each by one that
	// prints something plausible and does nothing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	StandIns []string `json:"standIns,omitempty" cap:"16x64"`
	// variables are environment variables that the server asked for by name. The audit set each
	// to a decoy that suits its name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=128
	Variables []string `json:"variables,omitempty" cap:"16x128"`
}

// Moment names a point of an audit at which a manifest was compared with the first one.
// +kubebuilder:validation:MaxLength=64
type Moment string

// The moments. Each tests one way in which a server may change what it advertises after it
// was reviewed.
const (
	// MomentSession: after the calls, in the same session.
	MomentSession Moment = "Session"
	// MomentRestart: after a restart with the same home directory.
	MomentRestart Moment = "Restart"
	// MomentIdentity: for a client of another name, with the same capabilities.
	MomentIdentity Moment = "Identity"
	// MomentClock: with its clock set forward.
	MomentClock Moment = "Clock"
)

// The other launches. The manifest after a week is compared as at MomentClock.
const (
	// LaunchExercise: everything is exercised.
	LaunchExercise Moment = "Exercise"
	// LaunchWeek: a week goes by in seconds.
	LaunchWeek Moment = "Week"
	// LaunchDisguise: client, environment, language, time zone and day differ.
	LaunchDisguise Moment = "Disguise"
	// LaunchStandIns: missing programs have a stand-in.
	LaunchStandIns Moment = "StandIns"
	// LaunchRefused: every connection is refused, and no name resolves.
	LaunchRefused Moment = "Refused"
	// LaunchDecoys: several launches, with the same decoys and with others.
	LaunchDecoys Moment = "Decoys"
	// LaunchAttack: calls try the guards of the server. What it does then only counts for
	// findings about its guards.
	LaunchAttack Moment = "Attack"
)

// ManifestDrift describes the differences of the manifest at a moment.
type ManifestDrift struct {
	// moment is Session, Restart, Identity or Clock.
	Moment Moment `json:"moment"`
	// announced: the server had sent a list_changed notification.
	// +optional
	Announced bool `json:"announced,omitempty"`
	Drift     `json:",inline"`
}

// OutputKind is the kind of answer of an Output.
// +kubebuilder:validation:MaxLength=64
type OutputKind string

// The kinds.
const (
	OutputResult       OutputKind = "Result"       // of a tool, resource or prompt
	OutputError        OutputKind = "Error"        // a JSON-RPC error, or a result with isError
	OutputNotification OutputKind = "Notification" // logging, progress, list_changed, ...
	OutputRequest      OutputKind = "Request"      // sampling, elicitation, roots
	OutputList         OutputKind = "List"         // completions
)

// Output is a message of the server, with the request that it answers.
type Output struct {
	// kind is Result, Error, Notification, Request or List.
	Kind OutputKind `json:"kind"`
	// capability that was exercised.
	Capability Capability `json:"capability"`
	// method of the request, or of the server's own message.
	// +kubebuilder:validation:MaxLength=128
	Method string `json:"method" cap:"128"`
	// arguments of the request, as JSON.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Arguments string `json:"arguments,omitempty" cap:"512" redact:"secrets"`
	// origins say where arguments came from that the probe did not generate, such as `ticket_id
	// "TICK-3" from the result of tool list_tickets`.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=256
	Origins []string `json:"origins,omitempty" cap:"4x256" redact:"secrets"`
	// text is the beginning of the message, with secrets shortened.
	// +kubebuilder:validation:MaxLength=1024
	Text string `json:"text" cap:"1024" redact:"secrets"`
	// count is the number of times that the same text came, at least 1.
	// +kubebuilder:validation:Format=int32
	Count int `json:"count"`
}

package v1alpha1

// Coverage says how much of what the server advertises was exercised.
type Coverage struct {
	// tools that were exercised.
	Tools Exercised `json:"tools"`
	// resources that were exercised.
	Resources Exercised `json:"resources"`
	// resourceTemplates that were exercised.
	ResourceTemplates Exercised `json:"resourceTemplates"`
	// prompts that were exercised.
	Prompts Exercised `json:"prompts"`
	// completions are arguments for which the server was asked for values.
	// +optional
	Completions Exercised `json:"completions"`
	// subscriptions are resources that were subscribed to.
	// +optional
	Subscriptions Exercised `json:"subscriptions"`
	// calls that were sent, and accepted.
	// +optional
	Calls Share `json:"calls"`
	// branches of the tools' input schemas, and those that were taken.
	// +optional
	Branches Share `json:"branches"`
}

// Exercised counts the capabilities of one kind: listed >= called >= accepted.
type Exercised struct {
	// listed is how many the server advertises.
	Listed int32 `json:"listed"`
	// called is how many were called and answered.
	Called int32 `json:"called"`
	// accepted is how many answered with a result that is not an error.
	Accepted int32 `json:"accepted"`
}

// Share is how many of a total.
type Share struct {
	// total number.
	Total int32 `json:"total"`
	// done is how many of it.
	Done int32 `json:"done"`
}

// CapabilityCoverage is how far one capability was exercised.
type CapabilityCoverage struct {
	// kind is Tool, Resource, ResourceTemplate or Prompt.
	// +kubebuilder:validation:MaxLength=64
	Kind string `json:"kind"`
	// name of the capability.
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`
	// calls that were sent, and accepted.
	Calls Share `json:"calls"`
	// branches of its input schema, and those that were taken.
	Branches Share `json:"branches"`
	// skipped is why it was not called, or not as often as it should have been.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Skipped string `json:"skipped,omitempty"`
}

// ReportedProbe is how the server was exercised.
type ReportedProbe struct {
	// seed makes the arguments: the same seed gives the same ones again.
	Seed int64 `json:"seed"`
	// rounds is how often everything was exercised.
	Rounds int32 `json:"rounds"`
	// calls says which tools could be called: All, ReadOnlyHinted or Never.
	// +kubebuilder:validation:MaxLength=64
	Calls string `json:"calls"`
	// launches is how often the server was started.
	Launches int32 `json:"launches"`
}

// ManifestDrift is how the manifest differed at one moment of the audit.
type ManifestDrift struct {
	// moment is Session, Restart, Identity or Clock.
	// +kubebuilder:validation:MaxLength=64
	Moment string `json:"moment"`
	// announced: the server had sent a list_changed notification.
	// +optional
	Announced     bool `json:"announced,omitempty"`
	ReportedDrift `json:",inline"`
}

// Output is something that the server said, and what it was asked.
type Output struct {
	// kind is Result, Error, Notification, Request or List.
	// +kubebuilder:validation:MaxLength=64
	Kind string `json:"kind"`
	// capability that was exercised.
	Capability Capability `json:"capability"`
	// method of the request, or of the server's own message.
	// +kubebuilder:validation:MaxLength=128
	Method string `json:"method"`
	// arguments that reached it, as JSON.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Arguments string `json:"arguments,omitempty"`
	// origins say where the arguments came from that the probe did not make up.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=256
	Origins []string `json:"origins,omitempty"`
	// text is the beginning of it, secrets shortened.
	// +kubebuilder:validation:MaxLength=1024
	Text string `json:"text"`
	// count is how often the same text came.
	Count int32 `json:"count"`
}

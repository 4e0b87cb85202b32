package report

// DeclaredScope lists what an operator says that a server may do, in lists of what is
// allowed. A list that is absent (nil) says nothing, so that what the manifest
// declares counts; a list that is there is all that is allowed, and an empty one
// allows nothing.
type DeclaredScope struct {
	// egress are hosts ("api.example.com", "*.example.com"), addresses and CIDR
	// blocks (RFC 4632), each with a port behind it or for all of them:
	// "api.example.com:443", "10.0.0.0/8", "[2001:db8::1]:443".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Egress []string `json:"egress,omitzero" cap:"64x512"`
	// readPaths are absolute paths; one that ends with "/" is a directory and all that
	// is below it, "*" any part of one name, "~/" the home directory.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	ReadPaths []string `json:"readPaths,omitzero" cap:"64x512"`
	// writePaths are paths as in readPaths.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	WritePaths []string `json:"writePaths,omitzero" cap:"64x512"`
	// exec are programs: names ("git") or absolute paths.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Exec []string `json:"exec,omitzero" cap:"64x512"`
	// listen are ports ("8080"), or addresses with one ("127.0.0.1:8080").
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Listen []string `json:"listen,omitzero" cap:"64x512"`
}

// ScopeSource is where a clause of the scope stands, by authority.
// +kubebuilder:validation:MaxLength=64
type ScopeSource string

// The sources, the one of the highest authority first.
const (
	// ScopeSpec is DeclaredScope.
	ScopeSpec ScopeSource = "Spec"
	// ScopeServerJSON is the server.json of the MCP registry.
	ScopeServerJSON ScopeSource = "ServerJSON"
	// ScopeAnnotation is a restrictive hint of a tool.
	ScopeAnnotation ScopeSource = "Annotation"
	// ScopeText is a sentence of the manifest.
	ScopeText ScopeSource = "Text"
)

// ScopeClause is one thing that the declaration was understood to say.
type ScopeClause struct {
	// source is Spec, ServerJSON, Annotation or Text.
	Source ScopeSource `json:"source"`
	// capability is whose declaration it is; Kind Server for the server's own.
	Capability Capability `json:"capability"`
	// field is where: "description", "annotations.openWorldHint", "egress[0]".
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field" cap:"256"`
	// means says how it was understood: "may use the network", "keeps off the
	// network", "may connect to api.example.com", "changes nothing".
	// +kubebuilder:validation:MaxLength=256
	Means string `json:"means" cap:"256"`
	// quote is the sentence, or the entry.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Quote string `json:"quote,omitempty" cap:"256" redact:"secrets"`
}

package report

// DeclaredScope lists what a server may do. If a list is absent, the server's manifest
// decides; otherwise only its entries are allowed, and an empty list allows nothing.
type DeclaredScope struct {
	// egress are hosts ("api.example.com", "*.example.com"), addresses and CIDR blocks (RFC 4632)
	// that the server may connect to, each with a port or for all ports, such as
	// "api.example.com:443", "10.0.0.0/8" and "[2001:db8::1]:443".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Egress []string `json:"egress,omitzero" cap:"64x512"`
	// readPaths are absolute paths that the server may read. A path that ends with "/" is a
	// directory with everything below it, "*" matches any part of one name, "~/" is the home
	// directory.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	ReadPaths []string `json:"readPaths,omitzero" cap:"64x512"`
	// writePaths are paths that the server may write, in the form of readPaths.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	WritePaths []string `json:"writePaths,omitzero" cap:"64x512"`
	// exec are programs that the server may start: names ("git") or absolute paths.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Exec []string `json:"exec,omitzero" cap:"64x512"`
	// listen are ports ("8080") or addresses with a port ("127.0.0.1:8080") that the server may
	// listen on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=512
	Listen []string `json:"listen,omitzero" cap:"64x512"`
}

// ScopeSource names the source of a clause of the scope.
// +kubebuilder:validation:MaxLength=64
type ScopeSource string

// The sources, highest authority first.
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

// ScopeClause is one statement of the declaration, as it was understood.
type ScopeClause struct {
	// source is Spec, ServerJSON, Annotation or Text.
	Source ScopeSource `json:"source"`
	// capability that it is about; kind Server for the whole server.
	Capability Capability `json:"capability"`
	// field that has it, such as "description", "annotations.openWorldHint" or "egress[0]".
	// +kubebuilder:validation:MaxLength=256
	Field string `json:"field" cap:"256"`
	// means says how it was understood, such as "may use the network", "keeps off the network",
	// "may connect to api.example.com" or "changes nothing".
	// +kubebuilder:validation:MaxLength=256
	Means string `json:"means" cap:"256"`
	// quote of the sentence or the entry.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Quote string `json:"quote,omitempty" cap:"256" redact:"secrets"`
}

package report

// DeclaredScope lists what an operator says that a server may do, in lists of what is
// allowed. A list that is absent (nil) says nothing, so that what the manifest
// declares counts; a list that is there is all that is allowed, and an empty one
// allows nothing.
type DeclaredScope struct {
	// Egress are hosts ("api.example.com", "*.example.com"), addresses and CIDR
	// blocks (RFC 4632), each with a port behind it or for all of them:
	// "api.example.com:443", "10.0.0.0/8", "[2001:db8::1]:443".
	Egress []string `json:"egress,omitzero"`
	// ReadPaths and WritePaths are absolute paths. One that ends with "/" is the
	// directory and everything below it; "*" stands for any part of one name.
	// "~/" is the server's home directory.
	ReadPaths  []string `json:"readPaths,omitzero"`
	WritePaths []string `json:"writePaths,omitzero"`
	// Exec are programs: names ("git") or absolute paths.
	Exec []string `json:"exec,omitzero"`
	// Listen are ports ("8080"), or addresses with one ("127.0.0.1:8080").
	Listen []string `json:"listen,omitzero"`
}

// ScopeSource is where a clause of the scope stands, by authority.
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
	Source ScopeSource `json:"source"`
	// Capability is whose declaration it is; Kind Server for the server's own.
	Capability Capability `json:"capability"`
	// Field is where: "description", "annotations.openWorldHint", "egress[0]".
	Field string `json:"field"`
	// Means says how it was understood: "may use the network", "keeps off the
	// network", "may connect to api.example.com", "changes nothing".
	Means string `json:"means"`
	// Quote is the sentence, or the entry.
	Quote string `json:"quote,omitempty"`
}

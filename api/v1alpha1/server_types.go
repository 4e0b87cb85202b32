package v1alpha1

import (
	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// Server is the MCP server to audit: either an image to run, or the URL of a server that
// runs elsewhere.
//
// +kubebuilder:validation:XValidation:rule="has(self.image) != has(self.url)",message="give image, to have the server run and traced, or url, for one that runs elsewhere; not both"
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !has(self.command) && !has(self.args) && !has(self.env) && !has(self.workingDir) && !has(self.imagePullSecrets)",message="command, args, env, workingDir and imagePullSecrets say how an image is run: remove them, or give image in place of url"
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !has(self.port) && !has(self.path)",message="port and path are part of url: write them there"
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !has(self.transport) || self.transport != 'Stdio'",message="transport Stdio needs an image to run: use StreamableHTTP or SSE with url"
// +kubebuilder:validation:XValidation:rule="has(self.url) || !has(self.transport) || self.transport in ['Auto', 'Stdio'] || has(self.port)",message="port is required with transport StreamableHTTP or SSE: set it to the port that the server listens on, such as 8080"
// +kubebuilder:validation:XValidation:rule="has(self.url) || !has(self.port) && !has(self.path) || !has(self.transport) || self.transport != 'Stdio'",message="port and path are for a server that listens: set transport to Auto, StreamableHTTP or SSE, or remove them"
type Server struct {
	// image is the container image, by tag or by digest. Each audit resolves it once, at the
	// start, and runs that digest.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[!-~]+$`
	Image string `json:"image,omitempty"`

	// url is the http or https endpoint of a server that runs elsewhere. Such a server is not
	// traced and only its answers are judged, so the verdict is Fail, or Inconclusive with
	// reason NotTraced, but never Pass. Its tools are called and take effect where it runs: see
	// probe.calls. Put no secret into the URL: everyone who may read the audit sees it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[!-~]+$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#:\\\\s][^\\\\s]*$') && isURL(self)",message="url must be absolute and begin with http:// or https://, such as https://mcp.example.com/mcp"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/]*//[^/?#]*@')",message="url must not have a user name or password: whoever may read the audit would read it"
	// +kubebuilder:validation:XValidation:rule="!self.contains('#')",message="url must not have a fragment (#): a server never gets to see it"
	URL string `json:"url,omitempty"`

	// transport is Auto (the default), Stdio, StreamableHTTP, or SSE for the HTTP+SSE transport
	// of MCP revision 2024-11-05. With image, Auto uses stdin and stdout, or, if the server does
	// not answer there, a port on which it was seen to listen. With url, Auto is StreamableHTTP.
	// +optional
	// +kubebuilder:validation:Enum=Auto;Stdio;StreamableHTTP;SSE
	Transport report.Transport `json:"transport,omitempty"`

	// port on which a server with an image listens, from 1 to 65535. The audit waits until it
	// does, but does not configure the server: use args or env for that. Required with
	// StreamableHTTP and SSE; with Auto, no other port is tried.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// path of the endpoint on that port. The default is /mcp, or /sse with SSE; Auto tries both,
	// and /.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[^\\\\s#]*$')",message="path must begin with / and have neither blanks nor a fragment (#), such as /mcp"
	Path string `json:"path,omitempty"`

	// command replaces the image's ENTRYPOINT, and its CMD unless args are given. It is required
	// only if the operator cannot read the image from a registry, for example if it was loaded
	// onto the nodes. No shell runs it, and $(NAME) is not expanded.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=1024
	Command []string `json:"command,omitempty"`

	// args replaces the image's CMD.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=1024
	Args []string `json:"args,omitempty"`

	// env is added to the image's environment. Values are plain text on purpose: do not give a
	// real secret to a server under audit.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []EnvVar `json:"env,omitempty"`

	// workingDir replaces the image's working directory.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == '' || self.startsWith('/')",message="workingDir must be an absolute path"
	WorkingDir string `json:"workingDir,omitempty"`

	// imagePullSecrets are Secrets of type kubernetes.io/dockerconfigjson in the namespace of
	// the audit. They are copied to the run namespace for as long as the audit Pod exists.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []SecretReference `json:"imagePullSecrets,omitempty"`
}

// EnvVar is one environment variable of the server.
// +kubebuilder:validation:XValidation:rule="self.name != 'HOME'",message="HOME is set by the sandbox: it holds the decoy files"
// +kubebuilder:validation:XValidation:rule="!self.name.startsWith('MCPAUDIT_')",message="names that begin with MCPAUDIT_ belong to the sandbox"
type EnvVar struct {
	// name of the variable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z][-._a-zA-Z0-9]*$`
	Name string `json:"name"`

	// value of the variable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
}

// SecretReference names a Secret in the namespace of the audit.
type SecretReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Speaks returns the transport of the server, or its default.
func (s Server) Speaks() report.Transport {
	switch {
	case s.Transport != "" && s.Transport != plan.TransportAuto:
		return s.Transport
	case s.URL != "":
		return report.TransportStreamableHTTP
	}
	return plan.TransportAuto
}

// Endpoint returns the path of the endpoint, or its default; empty if there is none or it is
// part of the URL.
func (s Server) Endpoint() string {
	if s.Path != "" || s.URL != "" {
		return s.Path
	}
	return plan.ByName(s.Speaks()).Path
}

package source

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// lifecycle has the fields of an MCPServer of mcp.x-k8s.io (v1beta1 and v1alpha1, of the MCP
// lifecycle operator of Kubernetes SIGs) about running the server: in a Deployment, with
// streamable HTTP and no proxy.
type lifecycle struct {
	Spec struct {
		Source struct {
			Type           string `json:"type"`
			ContainerImage struct {
				Ref              string  `json:"ref"`
				ImagePullSecrets []Named `json:"imagePullSecrets"`
			} `json:"containerImage"`
		} `json:"source"`
		WorkloadRef *struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"workloadRef"`
		Config struct {
			Port      int64     `json:"port"`
			Path      string    `json:"path"`
			Arguments []string  `json:"arguments"`
			Env       []EnvVar  `json:"env"`
			EnvFrom   []envFrom `json:"envFrom"`
			Storage   []struct {
				Path   string `json:"path"`
				Source struct {
					Type string `json:"type"`
				} `json:"source"`
			} `json:"storage"`
		} `json:"config"`
		Transport struct {
			TLS struct {
				Enabled bool `json:"enabled"`
			} `json:"tls"`
		} `json:"transport"`
	} `json:"spec"`
}

// Lifecycle reads an MCPServer of mcp.x-k8s.io.
func Lifecycle(object *unstructured.Unstructured) Reading { return read(object, &lifecycle{}) }

func (server *lifecycle) recipe() recipe {
	source, config := server.Spec.Source, server.Spec.Config
	r := recipe{
		image: source.ContainerImage.Ref, pullSecrets: names(source.ContainerImage.ImagePullSecrets),
		args: config.Arguments, env: config.Env, envFrom: config.EnvFrom,
		transport: report.TransportStreamableHTTP, port: config.Port, path: config.Path,
	}
	r.additions.EnvFrom = config.EnvFrom
	for _, storage := range config.Storage {
		r.additions.VolumeMounts = append(r.additions.VolumeMounts, mount{MountPath: storage.Path})
		if storage.Source.Type != "EmptyDir" {
			r.omitted = append(r.omitted, "the files at "+storage.Path)
		}
	}
	switch ref := server.Spec.WorkloadRef; {
	case ref != nil:
		r.remote = r.image == ""
		r.problem = notAuditable("It is run by %s %s: give that one the label %s.", ref.Kind, ref.Name, LabelServer)
	case source.Type != "" && source.Type != "ContainerImage":
		r.problem = notAuditable("Its source is of the type %q: only ContainerImage can be audited.", source.Type)
	case server.Spec.Transport.TLS.Enabled:
		r.problem = notAuditable("It speaks TLS, which an audit of an image does not.")
	}
	return r
}

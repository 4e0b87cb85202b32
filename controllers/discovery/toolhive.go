package discovery

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// toolHive has the fields of an MCPServer of toolhive.stacklok.dev (v1beta1 and
// v1alpha1) that say how the server itself is run. What a client talks to is a
// proxy: proxyMode and proxyPort are its, and no matter here.
type toolHive struct {
	Spec struct {
		Image     string   `json:"image"`
		Transport string   `json:"transport"`
		MCPPort   int64    `json:"mcpPort"`
		Args      []string `json:"args"`
		Env       []envVar `json:"env"`
		Secrets   []struct {
			Name          string `json:"name"`
			Key           string `json:"key"`
			TargetEnvName string `json:"targetEnvName"`
		} `json:"secrets"`
		Volumes           []mount     `json:"volumes"`
		PodTemplateSpec   podTemplate `json:"podTemplateSpec"`
		ResourceOverrides struct {
			ProxyDeployment struct {
				ImagePullSecrets []named `json:"imagePullSecrets"`
			} `json:"proxyDeployment"`
		} `json:"resourceOverrides"`
	} `json:"spec"`
}

// toolHivePort is where a server listens whose mcpPort is not given.
const toolHivePort = 8080

// readToolHive reads an MCPServer of ToolHive.
func readToolHive(object *unstructured.Unstructured) Reading {
	var server toolHive
	if err := decode(object, &server); err != nil {
		return unfit("It cannot be read: %s.", err)
	}
	spec := server.Spec
	if strings.Contains(spec.Image, "://") {
		return unfit("Its image %s is built by ToolHive when it is run: give it an image of its own.", spec.Image)
	}
	r := recipe{image: spec.Image, args: spec.Args, port: spec.MCPPort}
	switch spec.Transport {
	case "", "stdio":
		r.transport = v1alpha1.TransportStdio
	case "streamable-http":
		r.transport = v1alpha1.TransportStreamableHTTP
	case "sse":
		r.transport = v1alpha1.TransportSSE
	default:
		return unfit("Its transport %q is none that an audit speaks.", spec.Transport)
	}
	if r.port == 0 {
		r.port = toolHivePort
	}
	// The pod template is a patch of the Pod in which the container mcp is the server.
	for _, c := range spec.PodTemplateSpec.Spec.Containers {
		if c.Name == "mcp" {
			r.command, r.workingDir = c.Command, c.WorkingDir
			r.env, r.envFrom = c.Env, c.EnvFrom
			r.leftOut = append(r.leftOut, mounts(c.VolumeMounts, spec.PodTemplateSpec.Spec.Volumes)...)
		}
	}
	r.env = append(append(r.env, spec.Env...), toolHiveEnv(spec.Transport, r.port)...)
	for _, s := range spec.Secrets {
		name := s.TargetEnvName
		if name == "" {
			name = s.Key
		}
		r.env = append(r.env, envVar{Name: name, ValueFrom: &valueFrom{SecretKeyRef: &named{s.Name}}})
	}
	r.leftOut = append(r.leftOut, mounts(spec.Volumes, nil)...)
	r.pullSecrets = append(names(spec.PodTemplateSpec.Spec.ImagePullSecrets), names(spec.ResourceOverrides.ProxyDeployment.ImagePullSecrets)...)
	return r.reading()
}

// toolHiveEnv are the variables by which ToolHive tells a server what to speak.
func toolHiveEnv(transport string, port int64) []envVar {
	if transport == "" || transport == "stdio" {
		return []envVar{{Name: "MCP_TRANSPORT", Value: "stdio"}}
	}
	number := strconv.FormatInt(port, 10)
	return []envVar{{Name: "MCP_TRANSPORT", Value: transport}, {Name: "MCP_PORT", Value: number}, {Name: "FASTMCP_PORT", Value: number}}
}

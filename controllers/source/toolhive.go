package source

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// toolHive has the fields of an MCPServer of toolhive.stacklok.dev (v1beta1 and v1alpha1) about
// running the server. Clients talk to a proxy: proxyMode and proxyPort are the proxy's and
// irrelevant here.
type toolHive struct {
	Spec struct {
		Image     string   `json:"image"`
		Transport string   `json:"transport"`
		MCPPort   int64    `json:"mcpPort"`
		Args      []string `json:"args"`
		Env       []EnvVar `json:"env"`
		Secrets   []struct {
			Name          string `json:"name"`
			Key           string `json:"key"`
			TargetEnvName string `json:"targetEnvName"`
		} `json:"secrets"`
		Volumes           []mount     `json:"volumes"`
		PodTemplateSpec   podTemplate `json:"podTemplateSpec"`
		ResourceOverrides struct {
			ProxyDeployment struct {
				ImagePullSecrets []Named `json:"imagePullSecrets"`
			} `json:"proxyDeployment"`
		} `json:"resourceOverrides"`
	} `json:"spec"`
}

// ToolHiveContainer is the name of the server's container in a Pod template.
const ToolHiveContainer = "mcp"

// toolHivePort is the default of mcpPort.
const toolHivePort = 8080

// ToolHive reads an MCPServer of ToolHive.
func ToolHive(object *unstructured.Unstructured) Reading { return read(object, &toolHive{}) }

func (server *toolHive) recipe() recipe {
	spec := server.Spec
	r := recipe{image: spec.Image, args: spec.Args, port: cmp.Or(spec.MCPPort, toolHivePort)}
	switch spec.Transport {
	case "", "stdio":
		r.transport = report.TransportStdio
	case "streamable-http":
		r.transport = report.TransportStreamableHTTP
	case "sse":
		r.transport = report.TransportSSE
	default:
		r.problem = notAuditable("Its transport %q is none that an audit speaks.", spec.Transport)
	}
	if strings.Contains(spec.Image, "://") {
		r.problem = notAuditable("Its image %s is built by ToolHive when it is run: give it an image of its own.", spec.Image)
	}
	// The Pod template is a patch of the Pod, in which the first container mcp is the server.
	// ToolHive sets its image, and adds to its args and its environment.
	mcp := slices.IndexFunc(spec.PodTemplateSpec.Spec.Containers, func(c container) bool { return c.Name == ToolHiveContainer })
	if mcp >= 0 {
		c := spec.PodTemplateSpec.Spec.Containers[mcp]
		r.command, r.args, r.workingDir = c.Command, slices.Concat(c.Args, spec.Args), c.WorkingDir
		r.env, r.envFrom, r.additions = c.Env, c.EnvFrom, c.Additions
		r.omitted = append(r.omitted, mounts(c.VolumeMounts, spec.PodTemplateSpec.Spec.Volumes)...)
	}
	r.env = append(append(r.env, spec.Env...), toolHiveEnv(spec.Transport, r.port)...)
	for _, s := range spec.Secrets {
		r.env = append(r.env, EnvVar{Name: cmp.Or(s.TargetEnvName, s.Key), ValueFrom: &ValueFrom{SecretKeyRef: &Named{s.Name}}})
	}
	r.omitted = append(r.omitted, mounts(spec.Volumes, nil)...)
	r.additions.VolumeMounts = slices.Concat(r.additions.VolumeMounts, spec.Volumes)
	r.pullSecrets = append(names(spec.PodTemplateSpec.Spec.ImagePullSecrets), names(spec.ResourceOverrides.ProxyDeployment.ImagePullSecrets)...)
	return r
}

// toolHiveEnv returns the variables with which ToolHive configures a server's transport.
func toolHiveEnv(transport string, port int64) []EnvVar {
	if transport == "" || transport == "stdio" {
		return []EnvVar{{Name: "MCP_TRANSPORT", Value: "stdio"}}
	}
	number := strconv.FormatInt(port, 10)
	return []EnvVar{{Name: "MCP_TRANSPORT", Value: transport}, {Name: "MCP_PORT", Value: number}, {Name: "FASTMCP_PORT", Value: number}}
}

package source

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// kmcp has the fields of an MCPServer of kagent.dev (v1alpha1) about running the server. With
// transportType stdio an adapter in the same container listens and starts the command for each
// session; the audit is of the command.
type kmcp struct {
	Spec struct {
		TransportType string `json:"transportType"`
		HTTPTransport struct {
			TargetPort int64          `json:"targetPort"`
			Path       string         `json:"path"`
			TLS        map[string]any `json:"tls"`
		} `json:"httpTransport"`
		Deployment struct {
			Image            string            `json:"image"`
			Port             int64             `json:"port"`
			Cmd              string            `json:"cmd"`
			Args             []string          `json:"args"`
			Env              map[string]string `json:"env"`
			SecretRefs       []Named           `json:"secretRefs"`
			ConfigMapRefs    []Named           `json:"configMapRefs"`
			ImagePullSecrets []Named           `json:"imagePullSecrets"`
			Volumes          []volume          `json:"volumes"`
			VolumeMounts     []mount           `json:"volumeMounts"`
		} `json:"deployment"`
	} `json:"spec"`
}

// kmcpImages are the default images for commands.
var kmcpImages = map[string]string{"uvx": "ghcr.io/astral-sh/uv:debian", "npx": "node:24-alpine3.21"}

// Kmcp reads an MCPServer of kmcp.
func Kmcp(object *unstructured.Unstructured) Reading { return read(object, &kmcp{}) }

func (server *kmcp) recipe() recipe {
	http, deployment := server.Spec.HTTPTransport, server.Spec.Deployment
	r := recipe{
		image: cmp.Or(deployment.Image, kmcpImages[deployment.Cmd]), args: deployment.Args, pullSecrets: names(deployment.ImagePullSecrets),
		omitted: mounts(deployment.VolumeMounts, deployment.Volumes),
	}
	if deployment.Cmd != "" {
		r.command = []string{deployment.Cmd}
	}
	for _, name := range slices.Sorted(maps.Keys(deployment.Env)) {
		r.env = append(r.env, EnvVar{Name: name, Value: deployment.Env[name]})
	}
	for _, secret := range names(deployment.SecretRefs) {
		r.envFrom = append(r.envFrom, envFrom{SecretRef: &Named{secret}})
	}
	r.additions.VolumeMounts = slices.Clone(deployment.VolumeMounts)
	for _, config := range names(deployment.ConfigMapRefs) {
		r.additions.VolumeMounts = append(r.additions.VolumeMounts, mount{MountPath: "/configmaps/" + config})
		r.omitted = append(r.omitted, "the files at /configmaps/"+config)
	}
	r.additions.EnvFrom = r.envFrom
	switch {
	case server.Spec.TransportType == "stdio" && deployment.Cmd == "":
		r.problem = notAuditable("Its transportType is stdio and it has no spec.deployment.cmd: kmcp has no command to run either.")
	case server.Spec.TransportType == "stdio":
		r.transport, r.verbatim = report.TransportStdio, true
	case server.Spec.TransportType == "http" && http.TLS != nil:
		r.problem = notAuditable("It speaks TLS, which an audit of an image does not.")
	case server.Spec.TransportType == "http":
		r.transport, r.port, r.path = report.TransportStreamableHTTP, cmp.Or(http.TargetPort, deployment.Port), http.Path
	default:
		r.problem = notAuditable("Its transportType %q is none that kmcp runs: set it to stdio or http.", server.Spec.TransportType)
	}
	return r
}

package source

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// The label and annotations of a workload that runs a server.
const (
	// LabelServer names the server's container, or is "true" if the Pod has only one.
	LabelServer = "mcpaudit.dev/server"
	// annotationTransport is stdio, streamable-http or sse. By default a container
	// with a port speaks streamable-http, and one without speaks stdio.
	annotationTransport = "mcpaudit.dev/transport"
	// annotationPort selects one of several ports by number.
	annotationPort = "mcpaudit.dev/port"
	// annotationPath is the path of the endpoint.
	annotationPath = "mcpaudit.dev/path"
)

// workload has the relevant fields of a Deployment, StatefulSet or DaemonSet.
type workload struct {
	Spec struct {
		Template podTemplate `json:"template"`
	} `json:"spec"`
}

type podTemplate struct {
	Spec struct {
		Containers       []container `json:"containers"`
		Volumes          []volume    `json:"volumes"`
		ImagePullSecrets []Named     `json:"imagePullSecrets"`
	} `json:"spec"`
}

type container struct {
	Additions
	Name       string   `json:"name"`
	Image      string   `json:"image"`
	Command    []string `json:"command"`
	Args       []string `json:"args"`
	WorkingDir string   `json:"workingDir"`
	Env        []EnvVar `json:"env"`
	Ports      []struct {
		Name          string `json:"name"`
		ContainerPort int64  `json:"containerPort"`
		Protocol      string `json:"protocol"`
	} `json:"ports"`
}

type volume struct {
	Name     string         `json:"name"`
	EmptyDir map[string]any `json:"emptyDir"`
}

type mount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
}

// Workload reads a labelled workload.
func Workload(object *unstructured.Unstructured) Reading {
	var w workload
	if err := decode(object, &w); err != nil {
		return NotAuditable("It cannot be read: %s.", err)
	}
	pod := w.Spec.Template.Spec
	server, problem := choose(pod.Containers, object.GetLabels()[LabelServer])
	if problem != "" {
		return NotAuditable("%s", problem)
	}
	annotations := object.GetAnnotations()
	r := recipe{
		image: server.Image, command: server.Command, args: server.Args, workingDir: server.WorkingDir,
		env: server.Env, envFrom: server.EnvFrom, pullSecrets: names(pod.ImagePullSecrets),
		path: annotations[annotationPath], omitted: mounts(server.VolumeMounts, pod.Volumes),
	}
	if r.port, problem = server.listens(annotations[annotationPort]); problem != "" {
		return NotAuditable("%s", problem)
	}
	if r.transport, problem = spoken(annotations[annotationTransport], r.port); problem != "" {
		return NotAuditable("%s", problem)
	}
	if r.transport != report.TransportStdio && r.port == 0 {
		return NotAuditable("It is not clear where it listens: name the port with the annotation %s.", annotationPort)
	}
	return r.reading()
}

func choose(containers []container, label string) (container, string) {
	if label == "true" && len(containers) == 1 {
		return containers[0], ""
	}
	for _, c := range containers {
		if c.Name == label {
			return c, ""
		}
	}
	if label == "true" {
		return container{}, "It has " + strconv.Itoa(len(containers)) + " containers: set the label " + LabelServer + " to the name of the one that is the server."
	}
	return container{}, "It has no container " + strconv.Quote(label) + ": set the label " + LabelServer + " to the name of the container that is the server, or to \"true\" if there is only one."
}

// listens returns the server's port: by annotation, by the name mcp, or the only one; 0 if that
// is unclear.
func (c container) listens(annotation string) (int64, string) {
	if annotation != "" {
		port, err := strconv.ParseInt(annotation, 10, 32)
		if err != nil || port < 1 || port > maxPort {
			return 0, "The annotation " + annotationPort + " is no port: set it to a number from 1 to 65535."
		}
		return port, ""
	}
	var tcp []int64
	for _, p := range c.Ports {
		if p.Protocol != "" && p.Protocol != "TCP" {
			continue
		}
		if p.Name == "mcp" {
			return p.ContainerPort, ""
		}
		tcp = append(tcp, p.ContainerPort)
	}
	switch len(tcp) {
	case 0:
		return 0, ""
	case 1:
		return tcp[0], ""
	}
	return 0, "It has " + strconv.Itoa(len(tcp)) + " ports: name one of them mcp, or set the annotation " + annotationPort + "."
}

// spoken parses the annotation in the terms of MCP or of this API.
func spoken(annotation string, port int64) (report.Transport, string) {
	switch strings.ReplaceAll(strings.ToLower(annotation), "-", "") {
	case "":
		if port == 0 {
			return report.TransportStdio, ""
		}
		return report.TransportStreamableHTTP, ""
	case "stdio":
		return report.TransportStdio, ""
	case "streamablehttp", "http":
		return report.TransportStreamableHTTP, ""
	case "sse":
		return report.TransportSSE, ""
	}
	return "", "The annotation " + annotationTransport + " is no transport: set it to stdio, streamable-http or sse."
}

// mounts lists the files that the server has in the cluster. An emptyDir starts empty, like the
// sandbox's directories.
func mounts(mounted []mount, volumes []volume) []string {
	empty := map[string]bool{}
	for _, v := range volumes {
		empty[v.Name] = v.EmptyDir != nil
	}
	var paths []string
	for _, m := range mounted {
		if !empty[m.Name] {
			paths = append(paths, "the files at "+m.MountPath)
		}
	}
	return paths
}

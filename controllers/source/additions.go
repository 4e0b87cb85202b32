package source

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/environ"
)

// Additions has the fields of a container by which it gets more than its image and its
// command line have: variables, files, and commands that the kubelet executes in it.
type Additions struct {
	EnvFrom       []envFrom `json:"envFrom"`
	VolumeMounts  []mount   `json:"volumeMounts"`
	VolumeDevices []device  `json:"volumeDevices"`
	Lifecycle     struct {
		PostStart handler `json:"postStart"`
		PreStop   handler `json:"preStop"`
	} `json:"lifecycle"`
	LivenessProbe  handler `json:"livenessProbe"`
	ReadinessProbe handler `json:"readinessProbe"`
	StartupProbe   handler `json:"startupProbe"`
	// TerminationMessagePath is where the kubelet mounts an empty file that everybody may write.
	TerminationMessagePath string `json:"terminationMessagePath"`
}

type device struct {
	DevicePath string `json:"devicePath"`
}

// handler is a hook or a probe: what matters is whether it executes a command.
type handler struct {
	Exec *struct{} `json:"exec"`
}

// AdditionsOf returns the additions of of a container that is there.
func AdditionsOf(c corev1.Container) Additions {
	a := Additions{
		EnvFrom:                make([]envFrom, len(c.EnvFrom)), // how many, and not which
		TerminationMessagePath: c.TerminationMessagePath,
	}
	for _, m := range c.VolumeMounts {
		a.VolumeMounts = append(a.VolumeMounts, mount{MountPath: m.MountPath})
	}
	for _, d := range c.VolumeDevices {
		a.VolumeDevices = append(a.VolumeDevices, device{d.DevicePath})
	}
	if c.Lifecycle != nil {
		a.Lifecycle.PostStart, a.Lifecycle.PreStop = hookOf(c.Lifecycle.PostStart), hookOf(c.Lifecycle.PreStop)
	}
	a.LivenessProbe, a.ReadinessProbe, a.StartupProbe = probeOf(c.LivenessProbe), probeOf(c.ReadinessProbe), probeOf(c.StartupProbe)
	return a
}

func hookOf(h *corev1.LifecycleHandler) handler {
	if h == nil || h.Exec == nil {
		return handler{}
	}
	return handler{&struct{}{}}
}

func probeOf(p *corev1.Probe) handler {
	if p == nil || p.Exec == nil {
		return handler{}
	}
	return handler{&struct{}{}}
}

// Mounts are the paths at which volumes, devices and a file for the termination message
// are mounted, sorted, each once; but not where every container has that file.
func (a Additions) Mounts() []string {
	var all []string
	for _, m := range a.VolumeMounts {
		all = append(all, m.MountPath)
	}
	for _, d := range a.VolumeDevices {
		all = append(all, d.DevicePath)
	}
	if at := a.TerminationMessagePath; at != "" && at != corev1.TerminationMessagePathDefault {
		all = append(all, at)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Commands are the fields by which the kubelet executes commands, sorted.
func (a Additions) Commands() []string {
	var all []string
	for _, h := range []struct {
		field string
		handler
	}{
		{"lifecycle.postStart.exec", a.Lifecycle.PostStart}, {"lifecycle.preStop.exec", a.Lifecycle.PreStop},
		{"livenessProbe.exec", a.LivenessProbe}, {"readinessProbe.exec", a.ReadinessProbe}, {"startupProbe.exec", a.StartupProbe},
	} {
		if h.Exec != nil {
			all = append(all, h.field)
		}
	}
	return all
}

// Unread are the names of the variables that are not in values, which Literals has read,
// but for those whose own value loads no code: sorted, each once.
func Unread(env []EnvVar, values map[string]string) []string {
	if len(env) == 0 || len(values) == len(env) {
		return nil
	}
	harmless := map[string]bool{}
	if len(env) <= maxVariables {
		for _, variable := range (recipe{env: env}).variables().list {
			harmless[variable.Name] = !strings.Contains(variable.Value, "$(") && environ.Loads(variable.Name, variable.Value) == ""
		}
	}
	var all []string
	for _, variable := range env {
		if _, read := values[variable.Name]; !read && !harmless[variable.Name] {
			all = append(all, variable.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

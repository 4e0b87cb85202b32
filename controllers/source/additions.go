package source

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/environ"
)

// Additions are the container fields that add to image and command line: variables, files, and
// commands that the kubelet executes.
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
	// TerminationMessagePath is the path at which the kubelet mounts an empty world-writable file.
	TerminationMessagePath string `json:"terminationMessagePath"`
}

type device struct {
	DevicePath string `json:"devicePath"`
}

// handler is a hook or probe: only whether it executes a command matters.
type handler struct {
	Exec *struct{} `json:"exec"`
}

// AdditionsOf returns the additions of an existing container.
func AdditionsOf(c corev1.Container) Additions {
	a := Additions{
		EnvFrom:                make([]envFrom, len(c.EnvFrom)), // only their number matters
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

// Mounts returns the mount paths of volumes, devices and the termination message file, sorted,
// without duplicates; the default path of that file is left out.
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

// Commands returns the fields by which the kubelet executes commands, sorted.
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

// Unread returns the names of variables that are not in values, which Literals has read, except
// for those whose own value loads no code: sorted, without duplicates.
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

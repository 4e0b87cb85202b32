package least

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// object encodes a Kubernetes object as YAML, with the origin as a comment and as annotations.
func (b basis) object(version, kind string, spec map[string]any) (string, error) {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": version, "kind": kind,
		"metadata": map[string]any{"name": b.Name, "annotations": b.annotations()},
		"spec":     spec,
	})
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", kind, err)
	}
	return b.comment() + string(text), nil
}

// securityContext makes a strategic-merge patch for kubectl patch --patch-file or kustomize.
func securityContext(b basis) (string, error) {
	context := map[string]any{
		"allowPrivilegeEscalation": false,
		"privileged":               false,
		"readOnlyRootFilesystem":   true,
		"capabilities":             map[string]any{"drop": []string{"ALL"}},
		"seccompProfile":           map[string]any{"type": "Localhost", "localhostProfile": b.LocalhostProfile},
	}
	if b.needs.UID > 0 {
		context["runAsNonRoot"], context["runAsUser"], context["runAsGroup"] = true, b.needs.UID, b.needs.GID
	} else {
		b.note("runAsNonRoot is not set: the server ran as root in the audit (without a capability). Give the image a USER, and audit it again.")
	}
	for _, name := range b.needs.Capabilities {
		b.note("it did without %s, for which a call of it failed", plain(name))
	}
	volumes, kept := b.writable()
	if len(kept) > 0 {
		context["readOnlyRootFilesystem"] = false
		quoted := make([]string, len(kept))
		for i, dir := range kept {
			quoted[i] = strconv.QuoteToASCII(dir)
		}
		b.note("readOnlyRootFilesystem is false: the server wrote to %s, where the image may have files that an empty volume would hide. Mount volumes there, and set it to true.", strings.Join(quoted, ", "))
	}
	container := map[string]any{"name": b.Container, "securityContext": context}
	if slices.Contains(volumes, b.needs.Home) && b.needs.Home != "" {
		container["env"] = []any{map[string]any{"name": "HOME", "value": b.needs.Home}}
	}
	mounts, list := b.mounts(append([]string{"/tmp"}, volumes...))
	container["volumeMounts"] = mounts
	pod := map[string]any{"automountServiceAccountToken": false, "containers": []any{container}, "volumes": list}
	if slices.ContainsFunc(b.needs.Listens, func(p report.Peer) bool { return p.Port < 1024 }) {
		// The kubelet counts it among the safe sysctls.
		pod["securityContext"] = map[string]any{"sysctls": []any{map[string]any{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}}}
	}
	b.note("seccompProfile: put the profile of --type seccomp on every node as seccomp/%s below the kubelet's directory, or use --type spo and the path that the status of that object names, as --localhost-profile.", b.LocalhostProfile)
	if b.Workload == "Pod" {
		return b.object("v1", "Pod", pod)
	}
	return b.object("apps/v1", "Deployment", map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": b.annotations()}, "spec": pod,
	}})
}

// mounts returns empty volumes for directories that are not below one another.
func (b basis) mounts(dirs []string) (mounts, volumes []any) {
	for i, dir := range dirs {
		if slices.ContainsFunc(dirs[:i], func(outer string) bool { return b.below(dir, outer) }) {
			continue
		}
		name := fmt.Sprintf("writable-%d", len(volumes))
		mounts = append(mounts, map[string]any{"name": name, "mountPath": dir})
		volumes = append(volumes, map[string]any{"name": name, "emptyDir": map[string]any{}})
	}
	return mounts, volumes
}

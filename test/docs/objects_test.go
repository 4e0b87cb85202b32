//go:build docs

package docs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// passing are kinds whose objects come and go by themselves.
var passing = []string{
	"events", "events.events.k8s.io", "leases.coordination.k8s.io", "endpoints", "endpointslices.discovery.k8s.io",
	"pods", "replicasets.apps", "controllerrevisions.apps", "componentstatuses", "csinodes.storage.k8s.io",
	"certificatesigningrequests.certificates.k8s.io",
}

// objects are all of the cluster but the passing ones: "Kind.version.group namespace name".
func (c *cluster) objects(t *testing.T) map[string]bool {
	t.Helper()
	kinds := strings.Fields(kubectl(t, "api-resources", "--verbs=list,delete", "-o", "name"))
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return slices.Contains(passing, kind) })
	out := kubectl(t, "get", strings.Join(kinds, ","), "-A", "-o",
		`go-template={{range .items}}{{.kind}} {{.apiVersion}} {{if .metadata.namespace}}{{.metadata.namespace}}{{else}}-{{end}} {{.metadata.name}}{{"\n"}}{{end}}`)
	all := map[string]bool{}
	for line := range strings.Lines(out) {
		all[strings.TrimSpace(line)] = true
	}
	return all
}

// made are the objects that were not there before and have not gone by themselves, such as
// those that the operator takes away behind what it made them for.
func (c *cluster) made(t *testing.T, before map[string]bool) []string {
	t.Helper()
	var left []string
	poll.For(time.Minute, func() bool {
		now := c.objects(t)
		maps.DeleteFunc(now, func(object string, _ bool) bool { return before[object] })
		left = slices.Sorted(maps.Keys(now))
		return len(left) == 0
	})
	return left
}

func (c *cluster) delete(t *testing.T, objects []string) {
	t.Helper()
	for _, object := range objects {
		fields := strings.Fields(object)
		group, version, found := strings.Cut(fields[1], "/")
		if !found {
			group, version = "", group
		}
		args := []string{"delete", fields[0] + "." + version + "." + group, fields[3], "--ignore-not-found", "--timeout=120s"}
		if fields[2] != "-" {
			args = append(args, "-n", fields[2])
		}
		kubectl(t, args...)
	}
}

// table tells what was run, and what was not and why.
func (c *cluster) table(all []*page) string {
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-40s %4s %7s %7s %8s  %s\n", "PAGE", "RUN", "PARSED", "SKIPPED", "TOOK", "WHY NOT")
	ran, read, left := 0, 0, 0
	for _, p := range all {
		run, parsed, skipped := p.counts()
		var count int
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(skipped)) {
			count += skipped[reason]
			reasons = append(reasons, reason)
		}
		ran, read, left = ran+run, read+parsed, left+count
		if run+parsed+count > 0 {
			fmt.Fprintf(&table, "%-40s %4d %7d %7d %8s  %s\n", p.path, run, parsed, count, c.took[p.path].Round(100*time.Millisecond), strings.Join(reasons, "; "))
		}
	}
	fmt.Fprintf(&table, "%-40s %4d %7d %7d\n", "all", ran, read, left)
	return table.String()
}

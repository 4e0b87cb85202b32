// Package discovery is the controller of ClusterMCPAuditPolicy: it finds the MCP
// servers of a cluster and keeps one MCPServerAudit for each, which controllers/audit
// then audits by its schedule. cmd/manager registers it.
//
// All policies are reconciled together, because they depend on each other. A reconciliation is
// a pass:
//
//	watch   what the policies want and the cluster serves        (watches)
//	plan    which server is audited for which policy, and which audits are
//	        not wanted any more: a pure function of what is known (input to plan)
//	apply   the audits that differ, and delete what is not wanted
//	report  counts, and why a server is skipped, in the status of each policy
//
// An object is read once per change, by the pure function of its source (controllers/source).
// Only a candidate is kept of it, so memory is bounded by the limits of an audit, not by the
// size of foreign objects.
//
// An audit belongs to discovery if it has the label LabelDiscoveredBy and the name derived from
// its source. Others of that name are left alone. It is applied with the field manager
// fieldManager, so others may set the fields that policy and source do not. Audits that are as
// they should be are not written.
//
// Audits hold the baseline of their server, which detects rug pulls, so deleting one loses it.
// An audit is deleted only if its source is known to be gone or not selected any more, never
// because something could not be read.
package discovery

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// fieldManager is the field manager of discovered audits.
const fieldManager = "mcpaudit-discovery"

// Labels and annotations of discovered audits.
const (
	// LabelDiscoveredBy is the name of the policy. Removing it takes over the audit.
	LabelDiscoveredBy = "mcpaudit.dev/discovered-by"
	// LabelSourceKind is the kind and group of the source, such as Deployment.apps.
	LabelSourceKind = "mcpaudit.dev/source-kind"
	// annotationSourceName is the name of the source.
	annotationSourceName = "mcpaudit.dev/source-name"
	// annotationLeftOut lists what the server has where it runs but not in the audit.
	annotationLeftOut = "mcpaudit.dev/left-out"
	// annotationDigest is over the applied fields, to detect changes.
	annotationDigest = "mcpaudit.dev/discovery-digest"
)

// resource is a kind of object that a source reads.
type resource struct {
	source   v1alpha1.DiscoverySource
	kind     schema.GroupKind
	plural   string
	versions []string // known to the reader, preferred first
	selector string   // by label; empty for all
	read     source.Reader
	prefix   string // of the names of the audits
	builtIn  bool   // needs no CRD
}

// resources are all kinds in which servers are found.
var resources = []resource{
	workloadKind("Deployment", "deployments"),
	workloadKind("StatefulSet", "statefulsets"),
	workloadKind("DaemonSet", "daemonsets"),
	serverKind(v1alpha1.SourceToolHive, source.GroupToolHive, "toolhive", source.ToolHive, "v1beta1", "v1alpha1"),
	serverKind(v1alpha1.SourceKmcp, source.GroupKmcp, "kmcp", source.Kmcp, "v1alpha1"),
	serverKind(v1alpha1.SourceMCPLifecycle, source.GroupLifecycle, "mcpserver", source.Lifecycle, "v1beta1", "v1alpha1"),
}

func workloadKind(kind, plural string) resource {
	labelled, err := labels.NewRequirement(source.LabelServer, selection.Exists, nil)
	if err != nil {
		panic(err) // the label is a constant
	}
	return resource{
		source: v1alpha1.SourceWorkload, kind: schema.GroupKind{Group: "apps", Kind: kind}, plural: plural, versions: []string{"v1"},
		selector: labels.NewSelector().Add(*labelled).String(), read: source.Workload, prefix: plural[:len(plural)-1], builtIn: true,
	}
}

func serverKind(from v1alpha1.DiscoverySource, group, prefix string, read source.Reader, versions ...string) resource {
	return resource{
		source: from, kind: schema.GroupKind{Group: group, Kind: source.KindServer}, plural: "mcpservers",
		versions: versions, read: read, prefix: prefix,
	}
}

// crd is the name of the resource's CRD.
func (r resource) crd() string { return r.plural + "." + r.kind.Group }

// resourceOf returns the resource of a LabelSourceKind value.
func resourceOf(kind string) (resource, bool) {
	for _, r := range resources {
		if r.kind.String() == kind {
			return r, true
		}
	}
	return resource{}, false
}

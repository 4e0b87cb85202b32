// Package discovery is the controller of ClusterMCPAuditPolicy: it finds the MCP
// servers of a cluster and keeps one MCPServerAudit for each, which controllers/audit
// then audits by its schedule. cmd/manager registers it.
//
// There is one thing to reconcile, the cluster, because policies depend on each
// other. A reconciliation is a pass:
//
//	watch   what the policies want and the cluster serves        (watches)
//	plan    which server is audited for which policy, and which audits are
//	        not wanted any more: a pure function of what is known (input to plan)
//	apply   the audits that differ, and delete what is not wanted
//	report  counts, and why a server is skipped, in the status of each policy
//
// An object is read once, when it changes, by the pure function of its source
// (controllers/source). Only a candidate is kept of it, so that memory is bounded by what
// an audit may have and not by what somebody wrote into an object.
//
// An audit is discovery's if it has the label LabelDiscoveredBy and the name that
// its source gives it. Any other of that name is left alone. It is applied by
// the field manager fieldManager: what the policy and the source do not say is free
// for others to set. Nothing is sent while an audit is as it should be.
//
// Audits hold the baseline of their server, so that deleting one forgets what a rug
// pull is told by. One is deleted only when it is known that its source is gone or
// not selected any more: never because something could not be read.
package discovery

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// fieldManager applies the audits.
const fieldManager = "mcpaudit-discovery"

// The labels and annotations of an audit that was discovered.
const (
	// LabelDiscoveredBy is the name of the policy. Who removes it takes the audit over.
	LabelDiscoveredBy = "mcpaudit.dev/discovered-by"
	// LabelSourceKind is the kind and group of the source, such as Deployment.apps.
	LabelSourceKind = "mcpaudit.dev/source-kind"
	// annotationSourceName is the name of the source.
	annotationSourceName = "mcpaudit.dev/source-name"
	// annotationLeftOut says what the server has where it runs and not in the audit.
	annotationLeftOut = "mcpaudit.dev/left-out"
	// annotationDigest is over what was applied, to know when something is not any more.
	annotationDigest = "mcpaudit.dev/discovery-digest"
)

// resource is one kind of objects that a source looks at.
type resource struct {
	source   v1alpha1.DiscoverySource
	kind     schema.GroupKind
	plural   string
	versions []string // that the reader knows, the preferred one first
	selector string   // by label; empty for all
	read     source.Reader
	prefix   string // of the names of the audits
	builtIn  bool   // needs no CRD
}

// resources are all kinds of objects in which servers are found.
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

// crd is the name of the CRD that serves the resource.
func (r resource) crd() string { return r.plural + "." + r.kind.Group }

// resourceOf finds the resource by what LabelSourceKind says.
func resourceOf(kind string) (resource, bool) {
	for _, r := range resources {
		if r.kind.String() == kind {
			return r, true
		}
	}
	return resource{}, false
}

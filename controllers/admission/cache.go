package admission

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// What the gate does with the API. It has a service account of its own and writes
// nothing but that an exception was used.
//
// It decides by verdicts, policies and exceptions.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits;mcpauditpolicies;clustermcpauditpolicies;mcpauditexceptions,verbs=get;list;watch,roleName=mcpaudit-gate
//
// Policies select namespaces by their labels, and the nodes' labels say which platforms
// a verdict has to cover. Only metadata is read.
// +kubebuilder:rbac:groups="",resources=namespaces;nodes,verbs=list;watch,roleName=mcpaudit-gate
//
// When an exception was last used, in its status and as an event.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditexceptions/status,verbs=patch,roleName=mcpaudit-gate
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create,roleName=mcpaudit-gate
//
// The certificate that it serves with, and the key of the digests of environments.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch,resourceNames=mcpaudit-gate-certificate,namespace=mcpaudit-system,roleName=mcpaudit-gate
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,resourceNames=mcpaudit-environment-key,namespace=mcpaudit-system,roleName=mcpaudit-gate
//
// The API server says who may read the metrics.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create,roleName=mcpaudit-gate
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create,roleName=mcpaudit-gate

// CacheOptions have the cache of a gate in namespace hold what it decides by.
func CacheOptions(namespace string) map[client.Object]cache.ByObject {
	all := index.CacheOptions()
	all[&v1alpha1.MCPServerAudit{}] = cache.ByObject{Transform: keepVerdict}
	maps.Copy(all, certs.ServingCache(namespace))
	return all
}

// keepVerdict drops what of an audit no decision rests on. Of a large spec its digest is
// left: it says whether a verdict is of the spec as it is now.
func keepVerdict(object any) (any, error) {
	audit, ok := object.(*v1alpha1.MCPServerAudit)
	if !ok {
		return object, nil // a tombstone
	}
	audit.ManagedFields, audit.Annotations, audit.Labels, audit.OwnerReferences = nil, nil, nil, nil
	status := &audit.Status
	status.TopFindings, status.Tools, status.Drift, status.Coverage, status.Runner, status.ReportRef = nil, nil, nil, nil, nil, nil
	if status.Assurance != nil {
		status.Assurance.Because = nil
	}
	for i := range status.Conditions {
		status.Conditions[i].Message = ""
	}
	return audit, trigger.Trim(audit)
}

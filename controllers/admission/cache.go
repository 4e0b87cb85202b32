package admission

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// RBAC of the gate, which has its own service account. It only writes when an exception was
// used.
//
// Decisions rest on verdicts, policies and exceptions.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits;mcpauditpolicies;clustermcpauditpolicies;mcpauditexceptions,verbs=get;list;watch,roleName=mcpaudit-gate
//
// Policies select namespaces by label; node labels give the platforms that a verdict must
// cover. Only metadata is read.
// +kubebuilder:rbac:groups="",resources=namespaces;nodes,verbs=list;watch,roleName=mcpaudit-gate
//
// The last use of an exception, in its status and as an event.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditexceptions/status,verbs=patch,roleName=mcpaudit-gate
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create,roleName=mcpaudit-gate
//
// The serving certificate, and the key for environment digests.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch,resourceNames=mcpaudit-gate-certificate,namespace=mcpaudit-system,roleName=mcpaudit-gate
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,resourceNames=mcpaudit-environment-key,namespace=mcpaudit-system,roleName=mcpaudit-gate
//
// Token and access reviews for the metrics endpoint.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create,roleName=mcpaudit-gate
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create,roleName=mcpaudit-gate

// CacheOptions limits the cache of a gate in namespace to what decisions need.
func CacheOptions(namespace string) map[client.Object]cache.ByObject {
	all := index.CacheOptions()
	all[&v1alpha1.MCPServerAudit{}] = cache.ByObject{Transform: keepVerdict}
	maps.Copy(all, certs.ServingCache(namespace))
	return all
}

// keepVerdict drops the parts of an audit that no decision reads: everything if it has no verdict. A large
// spec is reduced to its digest, which shows whether the verdict is current.
func keepVerdict(object any) (any, error) {
	audit, ok := object.(*v1alpha1.MCPServerAudit)
	if !ok {
		return object, nil // a tombstone
	}
	if gate.ReadVerdict(audit) == nil {
		return &v1alpha1.MCPServerAudit{TypeMeta: audit.TypeMeta, ObjectMeta: metav1.ObjectMeta{
			Namespace: audit.Namespace, Name: audit.Name, UID: audit.UID, ResourceVersion: audit.ResourceVersion,
		}}, nil
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

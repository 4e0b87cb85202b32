package main

import (
	"os"
	"strings"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/controllers/discovery"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
)

// ownNamespace is where the kubelet writes the namespace of the manager's own Pod.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// systemNamespace is the namespace of the manager itself; outside of a Pod that of
// config/manager.
func systemNamespace() string {
	name, err := os.ReadFile(ownNamespace)
	if err != nil {
		return "mcpaudit-system"
	}
	return strings.TrimSpace(string(name))
}

// ownNamespaces are those of the operator.
func ownNamespaces(opts options.Options) []string {
	return []string{opts.RunNamespace, systemNamespace()}
}

// addDiscovery registers the controller that finds servers for ClusterMCPAuditPolicies.
func addDiscovery(manager ctrl.Manager, opts options.Options) error {
	servers := &discovery.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Own: ownNamespaces(opts),
		Events: recorder.New(manager.GetClient(), clock.RealClock{}), Clock: clock.RealClock{},
	}
	return servers.SetupWithManager(manager)
}

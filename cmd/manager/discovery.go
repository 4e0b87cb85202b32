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

// ownNamespaces are those of the operator.
func ownNamespaces(opts options.Options) []string {
	own := []string{opts.RunNamespace}
	if name, err := os.ReadFile(ownNamespace); err == nil { // outside of a Pod there is none
		own = append(own, strings.TrimSpace(string(name)))
	}
	return own
}

// addDiscovery registers the controller that finds servers for ClusterMCPAuditPolicies.
func addDiscovery(manager ctrl.Manager, opts options.Options) error {
	servers := &discovery.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Own: ownNamespaces(opts),
		Events: recorder.New(manager.GetClient(), clock.RealClock{}), Clock: clock.RealClock{},
	}
	return servers.SetupWithManager(manager)
}

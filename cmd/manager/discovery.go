package main

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/controllers/discovery"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
)

// addDiscovery registers the controller that finds servers for ClusterMCPAuditPolicies.
func addDiscovery(manager ctrl.Manager, opts options.Options) error {
	if opts.Discovery == options.DiscoveryDisabled {
		return (&discovery.Disabled{Client: manager.GetClient(), Clock: clock.RealClock{}}).SetupWithManager(manager)
	}
	servers := &discovery.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(),
		Events: recorder.New(manager.GetClient(), clock.RealClock{}), Clock: clock.RealClock{},
	}
	return servers.SetupWithManager(manager)
}

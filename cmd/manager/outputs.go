package main

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/policyreport"
)

// addPolicyReports registers the controller that writes verdicts for policy dashboards.
func addPolicyReports(manager ctrl.Manager, opts options.Options) error {
	if opts.PolicyReports == options.PolicyReportsDisabled {
		return nil
	}
	reports := &policyreport.Reconciler{Client: manager.GetClient(), Never: opts.PolicyReports == options.PolicyReportsNever}
	return reports.SetupWithManager(manager)
}

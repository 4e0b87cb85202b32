package main

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/process"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
)

// addCertificate registers the controller that maintains the gate's certificate. With External
// the manager touches neither the Secret nor the webhook configuration.
func addCertificate(manager ctrl.Manager, opts options.Options) error {
	if opts.GateCertificate == options.CertificateExternal {
		return nil
	}
	keeper := &certs.Keeper{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: recorder.New(manager.GetClient(), clock.RealClock{}), Clock: clock.RealClock{},
		Namespace: process.Namespace(), Names: certs.Names(process.Namespace()),
	}
	return keeper.SetupWithManager(manager)
}

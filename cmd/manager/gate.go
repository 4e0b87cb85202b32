package main

import (
	"errors"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcpaudit/mcpaudit/controllers/admission"
	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	auditmetrics "github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
)

// gateState is what the metrics tell of a replica's gate.
type gateState struct {
	*index.Store
	*certs.Serving
}

func (g gateState) Verdicts() int { return g.Len() }

// addGate registers the webhook and what keeps its certificate, on every replica.
func addGate(manager ctrl.Manager, opts options.Options, facts *index.Store, address string) error {
	events := recorder.New(manager.GetClient(), clock.RealClock{})
	serving := &certs.Serving{Cache: manager.GetCache()}
	keeper := &certs.Keeper{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: events, Clock: clock.RealClock{},
		Namespace: systemNamespace(), Names: certs.Names(systemNamespace()), External: opts.GateCertificate == options.CertificateExternal,
	}
	uses := admission.NewUses(manager.GetClient(), events, clock.RealClock{})
	answers := &admission.Handler{
		Index: facts, Uses: uses, Clock: clock.RealClock{},
		Metrics: auditmetrics.NewGate(metrics.Registry, gateState{facts, serving}),
	}
	return errors.Join(
		keeper.SetupWithManager(manager), manager.Add(serving), manager.Add(uses),
		manager.Add(&admission.Server{Handler: answers, Address: address, Certificate: serving.Certificate}),
		manager.AddReadyzCheck("gate", facts.Check), manager.AddReadyzCheck("gate-certificate", serving.Check),
	)
}

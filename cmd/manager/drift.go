package main

import (
	"errors"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcpaudit/mcpaudit/controllers/drift"
	"github.com/mcpaudit/mcpaudit/controllers/exception"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	auditmetrics "github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/offline"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
)

// addDrift registers two controllers: one makes the API server enforce policies by itself, the
// other reports what is in force and what runs despite it. Pods are read as protobuf, because
// nothing that the manager reads changes more often.
func addDrift(manager ctrl.Manager, store *index.Store) error {
	config := rest.CopyConfig(manager.GetConfig())
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	clients, err := kubernetes.NewForConfigAndClient(config, manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	events := recorder.New(manager.GetClient(), clock.RealClock{})
	enforced := &offline.Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Index: store, Clock: clock.RealClock{}}
	running := &drift.Reconciler{
		Client: manager.GetClient(), Pods: clients.CoreV1().RESTClient(), Index: store, Offline: enforced.Problem,
		Events: events, Clock: clock.RealClock{},
	}
	if err := metrics.Registry.Register(&auditmetrics.Running{Containers: running.Containers}); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	exceptions := &exception.Reconciler{Client: manager.GetClient(), Events: events, Clock: clock.RealClock{}}
	return errors.Join(enforced.SetupWithManager(manager), running.SetupWithManager(manager), exceptions.SetupWithManager(manager))
}

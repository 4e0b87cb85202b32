package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcpaudit/mcpaudit/controllers/audit"
	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/envkey"
	"github.com/mcpaudit/mcpaudit/controllers/health"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	auditmetrics "github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/process"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
	"github.com/mcpaudit/mcpaudit/controllers/result"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
	"github.com/mcpaudit/mcpaudit/controllers/statement"
)

// minLease leaves each of a lease's fifteen retries some time.
const minLease = 5 * time.Second

// cacheSyncTimeout is enough to list the large audits that tenants may create on a busy API
// server: a manager that gave up would start over forever.
const cacheSyncTimeout = 15 * time.Minute

func newManager(settings server, opts options.Options) (ctrl.Manager, error) {
	return settings.NewManager(ctrl.Options{
		Cache:          cache.Options{ByObject: cached(opts), DefaultTransform: audit.Strip},
		Client:         client.Options{Cache: &client.CacheOptions{DisableFor: audit.Uncached()}},
		LeaderElection: settings.elect, LeaderElectionID: "manager.mcpaudit.dev",
		LeaderElectionNamespace:       settings.electIn,
		LeaderElectionReleaseOnCancel: true, // main does nothing after the manager stops
		// A leader survives an API server outage of two thirds of the lease.
		LeaseDuration: new(settings.lease), RenewDeadline: new(settings.lease * 2 / 3), RetryPeriod: new(settings.lease * 2 / 15),
		Controller: ctrlconfig.Controller{CacheSyncTimeout: cacheSyncTimeout},
	})
}

// cached returns the cache options of all parts of the manager.
func cached(opts options.Options) map[client.Object]cache.ByObject {
	all := audit.CacheOptions(opts.RunNamespace)
	maps.Copy(all, index.CacheOptions())
	maps.Copy(all, certs.CacheOptions(process.Namespace()))
	return all
}

func addAudits(manager ctrl.Manager, opts options.Options, key *envkey.Keeper) error {
	clients, err := kubernetes.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	if opts.APIServers, err = apiServers(context.Background(), clients.Discovery().RESTClient()); err != nil {
		return err
	}
	images, err := imageref.New(imageref.Config{
		Platform: opts.Platform, Timeout: opts.ResolveTimeout, Registries: opts.Registries, APIServers: opts.APIServers,
	})
	if err != nil {
		return err
	}
	queue := slots.New(slots.Limits{Total: opts.Slots, PerNamespace: opts.NamespaceSlots})
	counts, watchdog := auditmetrics.New(metrics.Registry), health.NewWatchdog(clock.RealClock{})
	audits := &audit.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(),
		Images: counts.Count(images), Logs: result.PodLogs{Client: clients},
		Events: recorder.New(manager.GetClient(), clock.RealClock{}), Options: opts, Clock: clock.RealClock{},
		Metrics: counts, Watchdog: watchdog, Slots: queue,
		EnvironmentKey: key.Key,
		Attester:       &statement.Attester{Live: manager.GetAPIReader(), Namespace: process.Namespace(), Secret: opts.AttestationKey, Namespaces: opts.AttestedNamespaces},
	}
	if err := metrics.Registry.Register(&auditmetrics.Fleet{
		Cache: manager.GetCache(), RunNamespace: opts.RunNamespace, Elected: manager.Elected(), Slots: queue, Clock: clock.RealClock{},
	}); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	caches := &health.Caches{Informers: manager.GetCache(), Kinds: audit.Cached()}
	return errors.Join(audits.SetupWithManager(manager), manager.Add(caches), manager.Add(key),
		manager.AddHealthzCheck("reconciling", watchdog.Check), manager.AddReadyzCheck("caches", caches.Check),
		manager.AddReadyzCheck("api-server", health.NewAPIServer(clients.Discovery().RESTClient(), clock.RealClock{}).Check))
}

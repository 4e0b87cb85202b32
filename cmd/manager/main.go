// Command manager runs the controllers: flags become options, options become a
// manager. There is no logic here.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/audit"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	auditmetrics "github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/result"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// server is what the flags set about the process itself.
type server struct {
	metrics, probes string
	elect           bool
	electIn         string
	level           slog.Level
}

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	settings, opts, err := parse(args)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: settings.level})))
	manager, err := newManager(settings, opts)
	if err != nil {
		return err
	}
	if err := addAudits(manager, opts); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func parse(args []string) (server, options.Options, error) {
	settings, opts := server{}, options.Default()
	opts.RulesetDigest = rules.Digest()
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	flags.StringVar(&settings.metrics, "metrics-bind-address", ":8080", "address of the metrics; 0 turns them off")
	flags.StringVar(&settings.probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flags.BoolVar(&settings.elect, "leader-elect", true, "let one of several replicas be active")
	flags.StringVar(&settings.electIn, "leader-election-namespace", "", "namespace of the lease; that of the Pod by default")
	flags.TextVar(&settings.level, "log-level", slog.LevelInfo, "DEBUG, INFO, WARN or ERROR")
	opts.AddFlags(flags)
	flags.AddGoFlag(flag.Lookup("kubeconfig"))
	if err := flags.Parse(args); err != nil {
		return settings, opts, err
	}
	return settings, opts, opts.Load()
}

func newManager(settings server, opts options.Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{ByObject: audit.CacheOptions(opts.RunNamespace)},
		Client:                 client.Options{Cache: &client.CacheOptions{DisableFor: audit.Uncached()}},
		Metrics:                metricsserver.Options{BindAddress: settings.metrics},
		HealthProbeBindAddress: settings.probes,
		LeaderElection:         settings.elect, LeaderElectionID: "manager.mcpaudit.dev",
		LeaderElectionNamespace:       settings.electIn,
		LeaderElectionReleaseOnCancel: true, // main does nothing after the manager
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	return manager, errors.Join(manager.AddHealthzCheck("ping", healthz.Ping), manager.AddReadyzCheck("ping", healthz.Ping))
}

func addAudits(manager ctrl.Manager, opts options.Options) error {
	images, err := imageref.New(opts.Platform, opts.ResolveTimeout)
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	audits := &audit.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(),
		Images: images, Logs: result.PodLogs{Client: clients},
		Events: manager.GetEventRecorder("mcpaudit"), Options: opts, Clock: clock.RealClock{},
		Slots: slots.New(slots.Limits{Total: opts.Slots, PerNamespace: opts.NamespaceSlots}),
	}
	audits.Metrics = auditmetrics.New(metrics.Registry, audits.Running)
	return audits.SetupWithManager(manager)
}

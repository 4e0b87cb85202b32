// Command manager runs the controllers: flags become options, options become a
// manager. There is no logic here.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"
	_ "time/tzdata" // spec.schedule.timeZone, in an image without a database

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/runner/build"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// server is what the flags set about the process itself.
type server struct {
	metrics, probes string
	gate            string
	metricsCerts    string
	metricsSecure   bool
	elect           bool
	electIn         string
	lease           time.Duration
	level           slog.Level
	version         bool
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
	if settings.version {
		_, err := fmt.Println(build.Describe("mcpaudit-manager", rules.Digest()))
		return err
	}
	logger := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: settings.level}))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger) // what client-go says
	logger.Info("Started", "version", build.Version(), "commit", build.Commit(), "go", runtime.Version(), "ruleset", rules.Digest())
	manager, err := newManager(settings, opts)
	if err != nil {
		return err
	}
	store := index.New()
	if err := errors.Join(addAudits(manager, opts), addDiscovery(manager, opts), store.SetupWithManager(manager), addDrift(manager, opts, store),
		addGate(manager, opts, store, settings.gate), addPolicyReports(manager, opts)); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func parse(args []string) (server, options.Options, error) {
	settings, opts := server{}, options.Default()
	opts.RulesetDigest = rules.Digest()
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	flags.StringVar(&settings.metrics, "metrics-bind-address", ":8443", "address of the metrics; 0 turns them off")
	flags.BoolVar(&settings.metricsSecure, "metrics-secure", true, "serve the metrics over HTTPS, to who may read them; false is for a machine of one's own")
	flags.StringVar(&settings.metricsCerts, "metrics-cert-dir", "", "directory with tls.crt and tls.key of the metrics; a self-signed certificate by default")
	flags.StringVar(&settings.gate, "gate-bind-address", ":9443", "address of the webhook of the gate")
	flags.StringVar(&settings.probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flags.BoolVar(&settings.elect, "leader-elect", true, "let one of several replicas be active")
	flags.StringVar(&settings.electIn, "leader-election-namespace", "", "namespace of the lease; that of the Pod by default")
	flags.DurationVar(&settings.lease, "leader-elect-lease-duration", 30*time.Second, "how long a leader that is silent keeps the others waiting")
	flags.TextVar(&settings.level, "log-level", slog.LevelInfo, "DEBUG, INFO, WARN or ERROR")
	flags.BoolVar(&settings.version, "version", false, "print the version and end")
	opts.AddFlags(flags)
	flags.AddGoFlag(flag.Lookup("kubeconfig"))
	if err := flags.Parse(args); err != nil {
		return settings, opts, err
	}
	if settings.lease < minLease {
		return settings, opts, fmt.Errorf("--leader-elect-lease-duration %s is less than %s", settings.lease, minLease)
	}
	if settings.version {
		return settings, opts, nil
	}
	return settings, opts, opts.Load()
}

// Command manager runs the controllers. It only turns flags into options, and options into a
// manager.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
	_ "time/tzdata" // spec.schedule.timeZone, in an image without a database

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/controllers/envkey"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/process"
	"github.com/mcpaudit/mcpaudit/runner/build"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// server holds the flags about the process itself.
type server struct {
	process.Settings
	elect   bool
	electIn string
	lease   time.Duration
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
	if settings.Version {
		_, err := fmt.Println(build.Describe("mcpaudit-manager", rules.Digest()))
		return err
	}
	settings.StartLog("version", build.Version(), "commit", build.Commit(), "ruleset", rules.Digest())
	manager, err := newManager(settings, opts)
	if err != nil {
		return err
	}
	key := &envkey.Keeper{Live: manager.GetAPIReader(), Writer: manager.GetClient(), Namespace: process.Namespace()}
	store := index.New()
	store.EnvironmentKey = key.Key
	if err := errors.Join(addAudits(manager, opts, key), addDiscovery(manager, opts), store.SetupWithManager(manager), addDrift(manager, store),
		manager.AddReadyzCheck("index", store.Check), addCertificate(manager, opts), addPolicyReports(manager, opts)); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func parse(args []string) (server, options.Options, error) {
	settings, opts := server{}, options.Default()
	opts.RulesetDigest = rules.Digest()
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	flags.BoolVar(&settings.elect, "leader-elect", true, "let one of several replicas be active")
	flags.StringVar(&settings.electIn, "leader-election-namespace", "", "namespace of the lease; that of the Pod by default")
	flags.DurationVar(&settings.lease, "leader-elect-lease-duration", 30*time.Second, "how long a leader that is silent keeps the others waiting")
	settings.AddFlags(flags)
	opts.AddFlags(flags)
	flags.AddGoFlag(flag.Lookup("kubeconfig"))
	if err := flags.Parse(args); err != nil {
		return settings, opts, err
	}
	if settings.lease < minLease {
		return settings, opts, fmt.Errorf("--leader-elect-lease-duration %s is less than %s", settings.lease, minLease)
	}
	if settings.Version {
		return settings, opts, nil
	}
	return settings, opts, opts.Load()
}

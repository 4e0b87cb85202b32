// Command gate runs the gate's admission webhook. It only writes when an exception was used.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcpaudit/mcpaudit/controllers/admission"
	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/envkey"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	auditmetrics "github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/process"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
	"github.com/mcpaudit/mcpaudit/runner/build"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

type settings struct {
	process.Settings
	address, clientCA string
}

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var s settings
	flags := pflag.NewFlagSet("gate", pflag.ContinueOnError)
	s.AddFlags(flags)
	flags.StringVar(&s.address, "gate-bind-address", ":9443", "address of the webhook")
	flags.StringVar(&s.clientCA, "client-ca-file", "", "file of PEM certificates; only clients with a certificate by one of them are answered (docs/gate.md)")
	flags.AddGoFlag(flag.Lookup("kubeconfig"))
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.Version {
		_, err := fmt.Println(build.Describe("mcpaudit-gate", rules.Digest()))
		return err
	}
	s.StartLog("version", build.Version(), "commit", build.Commit())
	manager, err := s.NewManager(ctrl.Options{
		Cache: cache.Options{ByObject: admission.CacheOptions(process.Namespace()), DefaultTransform: cache.TransformStripManagedFields()},
	})
	if err != nil {
		return err
	}
	if err := addGate(manager, s); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

type state struct {
	*index.Store
	*certs.Serving
}

func (s state) Verdicts() int { return s.Len() }

func addGate(manager ctrl.Manager, s settings) error {
	facts, serving := index.New(), &certs.Serving{Cache: manager.GetCache()}
	key := &envkey.Keeper{Live: manager.GetAPIReader(), Namespace: process.Namespace()}
	facts.EnvironmentKey = key.Key
	uses := admission.NewUses(manager.GetClient(), recorder.New(manager.GetClient(), clock.RealClock{}), clock.RealClock{})
	answers := &admission.Handler{
		Index: facts, Uses: uses, Clock: clock.RealClock{}, Metrics: auditmetrics.NewGate(metrics.Registry, state{facts, serving}),
	}
	return errors.Join(
		facts.SetupWithManager(manager), manager.Add(key), manager.Add(serving), manager.Add(uses),
		manager.Add(&admission.Server{Handler: answers, Address: s.address, Certificate: serving.Certificate, ClientCA: s.clientCA}),
		manager.AddHealthzCheck("ping", healthz.Ping),
		manager.AddReadyzCheck("gate", facts.Check), manager.AddReadyzCheck("gate-certificate", serving.Check),
		manager.AddReadyzCheck("environment-key", key.Check),
	)
}

// Package process sets up the log, metrics, probes and manager of the operator's programs.
package process

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// Settings are set by flags.
type Settings struct {
	Metrics, Probes string
	MetricsCerts    string
	MetricsSecure   bool
	Level           slog.Level
	Version         bool
}

// AddFlags binds the settings to flags.
func (s *Settings) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.Metrics, "metrics-bind-address", ":8443", "address of the metrics; 0 turns them off")
	flags.BoolVar(&s.MetricsSecure, "metrics-secure", true, "serve the metrics over HTTPS, to who may read them; false is for a machine of one's own")
	flags.StringVar(&s.MetricsCerts, "metrics-cert-dir", "", "directory with tls.crt and tls.key of the metrics; a self-signed certificate by default")
	flags.StringVar(&s.Probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flags.TextVar(&s.Level, "log-level", slog.LevelInfo, "DEBUG, INFO, WARN or ERROR")
	flags.BoolVar(&s.Version, "version", false, "print the version and end")
}

// StartLog sends all logs to stderr as JSON, and logs the start.
func (s *Settings) StartLog(values ...any) {
	logger := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: s.Level}))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger) // what client-go says
	logger.Info("Started", append([]any{"go", goruntime.Version()}, values...)...)
}

// shutdownTimeout is less than terminationGracePeriodSeconds of the Deployments, so work in
// progress ends and the lease is released before the kubelet kills.
const shutdownTimeout = 20 * time.Second

// NewManager creates a manager for the cluster of the kubeconfig or Pod, with our kinds and
// those of Kubernetes, metrics and probes.
func (s *Settings) NewManager(opts ctrl.Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("register kinds: %w", err)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	opts.Scheme, opts.Metrics, opts.HealthProbeBindAddress = scheme, s.metricsOptions(), s.Probes
	opts.GracefulShutdownTimeout = new(shutdownTimeout)
	manager, err := ctrl.NewManager(config, opts)
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	return manager, nil
}

// metricsOptions configures the metrics server.
func (s *Settings) metricsOptions() metricsserver.Options {
	served := metricsserver.Options{BindAddress: s.Metrics}
	if s.MetricsSecure {
		served.SecureServing, served.CertDir, served.FilterProvider = true, s.MetricsCerts, metrics.Access
		// One request per connection at a time: no client can open thousands of streams.
		served.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	return served
}

// ownNamespace is the file with a Pod's namespace.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Namespace returns the operator's namespace; outside a Pod that of config/manager.
func Namespace() string {
	name, err := os.ReadFile(ownNamespace)
	if err != nil {
		return options.SystemNamespace
	}
	return strings.TrimSpace(string(name))
}

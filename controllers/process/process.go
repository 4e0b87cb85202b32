// Package process has what every program of the operator needs as a process: its log,
// its metrics and its probes.
package process

import (
	"crypto/tls"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

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
	logger.Info("Started", append([]any{"go", runtime.Version()}, values...)...)
}

// MetricsOptions configures the server of the metrics.
func (s *Settings) MetricsOptions() metricsserver.Options {
	served := metricsserver.Options{BindAddress: s.Metrics}
	if s.MetricsSecure {
		served.SecureServing, served.CertDir, served.FilterProvider = true, s.MetricsCerts, metrics.Access
		// One stream per connection: no client can open thousands and drop them.
		served.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	return served
}

// ownNamespace is where the kubelet writes the namespace of a Pod.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Namespace is the operator's own namespace; outside of a Pod that of config/manager.
func Namespace() string {
	name, err := os.ReadFile(ownNamespace)
	if err != nil {
		return options.SystemNamespace
	}
	return strings.TrimSpace(string(name))
}

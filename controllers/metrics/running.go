package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// RunningContainer is the policies' view of a running container.
type RunningContainer struct {
	// Reason of the strictest policy.
	Reason v1alpha1.GateReason
	// Denied means that a policy would deny it now in mode Enforce.
	Denied bool
}

var gateReasons = words{
	string(v1alpha1.GatePassed), string(v1alpha1.GateExcepted), string(v1alpha1.GateStale), string(v1alpha1.GateInconclusive),
	string(v1alpha1.GateOtherPlatform), string(v1alpha1.GateOtherEnvironment), string(v1alpha1.GateOtherCommand),
	string(v1alpha1.GateAltered), string(v1alpha1.GateLittleExercised), string(v1alpha1.GateWeaklyExercised), string(v1alpha1.GateExposureUnknown), string(v1alpha1.GateUnreadable), string(v1alpha1.GateNotAudited),
	string(v1alpha1.GateNoDigest), string(v1alpha1.GateExposed), string(v1alpha1.GateDrifted), string(v1alpha1.GateFailed),
}

var runningContainersDesc = gauge("gate_running_containers",
	"Containers that run and that a policy of the gate is about, by the reason of the policy that thinks worst of them, and whether they would be denied.", "reason", "denied")

// Running is a prometheus.Collector of running containers by compliance. controllers/drift
// counts them on the leader; elsewhere Containers is nil, and nothing is collected.
type Running struct {
	Containers func() map[RunningContainer]int
}

// Describe implements prometheus.Collector.
func (r *Running) Describe(descs chan<- *prometheus.Desc) { descs <- runningContainersDesc }

// Collect implements prometheus.Collector.
func (r *Running) Collect(metrics chan<- prometheus.Metric) {
	for c, n := range r.Containers() {
		metrics <- prometheus.MustNewConstMetric(runningContainersDesc, prometheus.GaugeValue, float64(n), gateReasons.label(string(c.Reason)), strconv.FormatBool(c.Denied))
	}
}

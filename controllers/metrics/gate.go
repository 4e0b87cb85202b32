package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Gate counts the gate's answers, on each replica.
type Gate struct {
	decisions *prometheus.CounterVec
	duration  prometheus.Histogram
	excepted  prometheus.Counter
	errors    *prometheus.CounterVec
}

// GateState is the state that a replica's gate depends on.
type GateState interface {
	// Verdicts returns the number of known verdicts.
	Verdicts() int
	// Expires returns the expiry of the serving certificate; zero without one.
	Expires() time.Time
}

var (
	gateDecisions = words{"denied", "warned", "audited", "allowed", "unmatched"}
	gateModes     = words{string(v1alpha1.GateEnforce), string(v1alpha1.GateWarn), string(v1alpha1.GateAudit), none}
	// answerReasons are the reasons of decisions.
	answerReasons = slices.Concat(gateReasons, words{none})
	gateErrors    = words{"not_synced", "malformed", "too_large", "slow", "busy", "late", "panic", "use_lost"}
)

// NewGate makes the metrics of the gate and registers them.
func NewGate(registry prometheus.Registerer, state GateState) *Gate {
	g := &Gate{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mcpaudit_gate_decisions_total",
			Help: "Requests that the gate decided, by the decision, and by the reason and the mode of the policy that it rests on.",
		}, []string{"decision", "reason", "mode"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "mcpaudit_gate_decision_seconds",
			Help:    "Time from when a request was read to the decision.",
			Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3},
		}),
		excepted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mcpaudit_gate_exceptions_used_total",
			Help: "Containers that were admitted by an MCPAuditException.",
		}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mcpaudit_gate_errors_total",
			Help: "Requests that the gate could not decide, so that failurePolicy did, and uses of exceptions that could not be recorded.",
		}, []string{"cause"}),
	}
	// rate() ignores the first event of a series that starts with it
	for _, cause := range gateErrors {
		g.errors.WithLabelValues(cause)
	}
	verdicts := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mcpaudit_gate_verdicts", Help: "Verdicts that the replica decides by.",
	}, func() float64 { return float64(state.Verdicts()) })
	expires := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mcpaudit_gate_certificate_expiry_timestamp_seconds", Help: "When the certificate ends that the replica serves with; 0 without one.",
	}, func() float64 {
		if end := state.Expires(); !end.IsZero() {
			return float64(end.Unix())
		}
		return 0
	})
	registry.MustRegister(g.decisions, g.duration, g.excepted, g.errors, verdicts, expires)
	return g
}

// Decided counts a decision: denied, warned, audited, allowed or unmatched.
func (g *Gate) Decided(decision, reason, mode string, took time.Duration) {
	g.decisions.WithLabelValues(gateDecisions.label(decision), answerReasons.label(reason), gateModes.label(mode)).Inc()
	g.duration.Observe(took.Seconds())
}

// Excepted counts containers that an exception admitted.
func (g *Gate) Excepted(containers int) { g.excepted.Add(float64(containers)) }

// Failed counts a request that could not be decided, by its cause.
func (g *Gate) Failed(cause string) { g.errors.WithLabelValues(gateErrors.label(cause)).Inc() }

package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// readTimeout bounds the wait of a scrape for a cache that is still filling.
const readTimeout = 5 * time.Second

// Slots is the queue of audits. controllers/slots implements it.
type Slots interface {
	// Waiting returns the number of waiting audits by priority.
	Waiting() map[string]int
	// Active returns the number of taken slots, Limit of all.
	Active() int
	Limit() int
}

var priorities = words{"requested", "drift", "scheduled"}

// Fleet is a prometheus.Collector of the current state of all audits.
type Fleet struct {
	// Cache reads audits and Pods without copying them.
	Cache client.Reader
	// RunNamespace is the namespace of the audit Pods.
	RunNamespace string
	// Elected is closed once this replica leads; until then nothing is collected.
	Elected <-chan struct{}
	// Slots may be nil to omit their metrics.
	Slots Slots
	Clock clock.PassiveClock
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("mcpaudit_"+name, help, labels, nil)
}

var (
	auditsDesc       = gauge("audits", "Audits that exist, by their last verdict (None before the first) and the reason of the condition Ready.", "verdict", "reason")
	findingsDesc     = gauge("findings", "Findings of the last audits, suppressed or not.", "severity")
	suppressedDesc   = gauge("findings_suppressed", "Findings of the last audits that a suppression of the spec covers.")
	driftedDesc      = gauge("manifest_drifted_audits", "Audits whose server advertises something else than its baseline.", "reason")
	behaviorDesc     = gauge("behavior_drifted_audits", "Audits whose server did what it had not done before, by their top findings.")
	inconclusiveDesc = gauge("inconclusive_audits", "Audits whose last verdict is Inconclusive, by the reason of the condition Audited.", "reason")
	failingDesc      = gauge("failing_audits", "Audits that could not observe everything, by how many times in a row.", "times")
	suspendedDesc    = gauge("suspended_audits", "Audits with spec.suspend.")
	agesDesc         = gauge("verdicts", "Audits with a verdict, by its age: younger than that, and not younger than the class before.", "age")
	oldestDesc       = gauge("oldest_verdict_timestamp_seconds", "When the oldest verdict was decided; absent while there is none.")
	overdueDesc      = gauge("overdue_seconds", "How long ago the most overdue audit should have started; 0 if none is overdue.")
	runningDesc      = gauge("audits_running", "Audit Pods that exist.")
	waitingDesc      = gauge("audits_waiting", "Audits that wait for a slot, by priority.", "priority")
	activeDesc       = gauge("slots_taken", "Slots that are taken.")
	limitDesc        = gauge("slots", "Slots that there are: audits that may run at a time.")
)

// Describe implements prometheus.Collector.
func (f *Fleet) Describe(descs chan<- *prometheus.Desc) {
	all := []*prometheus.Desc{
		auditsDesc, findingsDesc, suppressedDesc, driftedDesc, behaviorDesc, inconclusiveDesc, failingDesc,
		suspendedDesc, agesDesc, oldestDesc, overdueDesc, runningDesc,
	}
	if f.Slots != nil {
		all = append(all, waitingDesc, activeDesc, limitDesc)
	}
	for _, desc := range all {
		descs <- desc
	}
}

// Collect implements prometheus.Collector. It reports nothing if the cache cannot be read:
// absent() detects a missing series, but nothing detects a wrong 0.
func (f *Fleet) Collect(metrics chan<- prometheus.Metric) {
	select {
	case <-f.Elected:
	default:
		return
	}
	set := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	if t, err := f.count(ctx); err == nil {
		t.export(set)
	}
	var pods corev1.PodList
	if err := f.Cache.List(ctx, &pods, client.InNamespace(f.RunNamespace), client.UnsafeDisableDeepCopy); err == nil {
		set(runningDesc, float64(len(pods.Items)))
	}
	if f.Slots != nil {
		f.tellSlots(set)
	}
}

// count passes over all audits. The list shares memory with the cache, so it costs a few words
// per audit.
func (f *Fleet) count(ctx context.Context) (*tally, error) {
	var audits v1alpha1.MCPServerAuditList
	if err := f.Cache.List(ctx, &audits, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	t := newTally(f.Clock.Now())
	for i := range audits.Items {
		t.add(&audits.Items[i])
	}
	return t, nil
}

type setter func(desc *prometheus.Desc, value float64, labels ...string)

func (t *tally) export(set setter) {
	for s, n := range t.states {
		set(auditsDesc, float64(n), s.verdict, s.reason)
	}
	for _, severity := range report.Severities {
		set(findingsDesc, float64(t.findings[severity]), string(severity))
	}
	each(set, driftedDesc, t.drifted)
	each(set, inconclusiveDesc, t.inconclusive)
	each(set, failingDesc, t.failing)
	each(set, agesDesc, t.ages)
	set(suppressedDesc, float64(t.suppressed))
	set(behaviorDesc, float64(t.behaved))
	set(suspendedDesc, float64(t.suspended))
	set(overdueDesc, t.overdue.Seconds())
	if !t.oldest.IsZero() {
		set(oldestDesc, float64(t.oldest.Unix()))
	}
}

func (f *Fleet) tellSlots(set setter) {
	waiting := zeros(priorities)
	for priority, n := range f.Slots.Waiting() {
		waiting[priorities.label(priority)] += n
	}
	each(set, waitingDesc, waiting)
	set(activeDesc, float64(f.Slots.Active()))
	set(limitDesc, float64(f.Slots.Limit()))
}

func each(set setter, desc *prometheus.Desc, values map[string]int) {
	for word, n := range values {
		set(desc, float64(n), word)
	}
}

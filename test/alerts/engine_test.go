package alerts

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// step is the time between two samples of a series, and between two evaluations of a
// rule: the default of both in Prometheus.
const step = time.Minute

var promQL = parser.NewParser(parser.Options{})

// sample is a value at a time in milliseconds.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// memory is a storage.Querier of series that are written as promtool has them:
// `name{label="value"} 0x5 1+1x10`.
type memory struct{ series []storage.Series }

func load(t *testing.T, written []string) *memory {
	t.Helper()
	m := &memory{}
	for _, text := range written {
		of, values, err := promQL.ParseSeriesDesc(text)
		if err != nil {
			t.Fatalf("series %q: %v", text, err)
		}
		var samples []chunks.Sample
		for i, v := range values {
			if !v.Omitted {
				samples = append(samples, sample{int64(i) * step.Milliseconds(), v.Value})
			}
		}
		m.series = append(m.series, storage.NewListSeries(of, samples))
	}
	return m
}

// Querier implements storage.Queryable.
func (m *memory) Querier(_, _ int64) (storage.Querier, error) { return m, nil }

// Select implements storage.Querier.
func (m *memory) Select(_ context.Context, _ bool, _ *storage.SelectHints, by ...*labels.Matcher) storage.SeriesSet {
	found := &set{}
	for _, series := range m.series {
		matches := true
		for _, matcher := range by {
			matches = matches && matcher.Matches(series.Labels().Get(matcher.Name))
		}
		if matches {
			found.left = append(found.left, series)
		}
	}
	return found
}

// LabelValues implements storage.Querier; no query asks for it.
func (*memory) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames implements storage.Querier; no query asks for it.
func (*memory) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close implements storage.Querier.
func (*memory) Close() error { return nil }

type set struct {
	at   storage.Series
	left []storage.Series
}

func (s *set) Next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.at, s.left = s.left[0], s.left[1:]
	return true
}
func (s *set) At() storage.Series              { return s.at }
func (*set) Err() error                        { return nil }
func (*set) Warnings() annotations.Annotations { return nil }

// fired is an alert that fires, its labels without its name.
type fired struct {
	labels string
	value  float64
}

// evaluate lets Prometheus' engine evaluate a rule every step until a time, and returns
// what fires then: what the expression has returned for as long as the rule says.
func evaluate(t *testing.T, r rule, on *memory, until time.Duration) []fired {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute, Parser: promQL})
	since, now := map[string]time.Duration{}, map[string]float64{}
	for at := time.Duration(0); at <= until; at += step {
		query, err := engine.NewInstantQuery(t.Context(), on, nil, r.Expr, time.UnixMilli(at.Milliseconds()))
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		result, err := query.Exec(t.Context()).Vector()
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		now = map[string]float64{}
		for _, found := range result {
			now[found.Metric.DropReserved(func(name string) bool { return name == model.MetricNameLabel }).String()] = found.F
		}
		maps.DeleteFunc(since, func(of string, _ time.Duration) bool { _, is := now[of]; return !is })
		for of := range now {
			if _, known := since[of]; !known {
				since[of] = at
			}
		}
		query.Close()
	}
	held, err := model.ParseDuration(max(r.For, "0s"))
	if err != nil {
		t.Fatalf("%s: for: %v", r.Alert, err)
	}
	var all []fired
	for of, began := range since {
		if until-began >= time.Duration(held) {
			all = append(all, fired{of, now[of]})
		}
	}
	return all
}

// expand writes a text of an alert as Prometheus does.
func expand(t *testing.T, r rule, text string, of fired) string {
	t.Helper()
	metric, err := promQL.ParseMetric(of.labels)
	if err != nil {
		t.Fatal(err)
	}
	definitions := "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
	none := func(context.Context, string, time.Time) (promql.Vector, error) {
		return nil, fmt.Errorf("no queries in texts")
	}
	expanded, err := template.NewTemplateExpander(t.Context(), definitions+text, r.Alert, template.AlertTemplateData(metric.Map(), nil, "", promql.Sample{F: of.value}),
		model.Time(0), none, nil, nil).Expand()
	if err != nil || strings.Contains(expanded, "<no value>") {
		t.Errorf("%s: %q becomes %q, %v", r.Alert, text, expanded, err)
	}
	return expanded
}

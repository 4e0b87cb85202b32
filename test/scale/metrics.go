package main

import (
	"context"
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// families are the metrics of a process by name.
type families map[string]*dto.MetricFamily

func scrape(ctx context.Context, c *http.Client, url string) (families, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read %s: %s", url, response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", url, err)
	}
	return found, nil
}

// of returns the metrics of a family with all of the labels, given as names and values.
func (f families) of(name string, labels ...string) []*dto.Metric {
	var all []*dto.Metric
	for _, m := range f[name].GetMetric() {
		has := map[string]string{}
		for _, pair := range m.GetLabel() {
			has[pair.GetName()] = pair.GetValue()
		}
		matches := true
		for i := 0; i+1 < len(labels); i += 2 {
			matches = matches && has[labels[i]] == labels[i+1]
		}
		if matches {
			all = append(all, m)
		}
	}
	return all
}

// sum returns the sum of gauges and counters.
func (f families) sum(name string, labels ...string) float64 {
	total := 0.0
	for _, m := range f.of(name, labels...) {
		total += m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	return total
}

// quantile estimates a quantile from the classic buckets of a histogram, like Prometheus'
// histogram_quantile: values are spread evenly within a bucket.
func (f families) quantile(q float64, name string, labels ...string) float64 {
	for _, m := range f.of(name, labels...) {
		h := m.GetHistogram()
		rank, below, lower := q*float64(h.GetSampleCount()), 0.0, 0.0
		for _, bucket := range h.GetBucket() {
			count := float64(bucket.GetCumulativeCount())
			if count >= rank && count > below {
				return lower + (bucket.GetUpperBound()-lower)*(rank-below)/(count-below)
			}
			below, lower = count, bucket.GetUpperBound()
		}
	}
	return 0
}

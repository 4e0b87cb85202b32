// Package alerts holds config/grafana/dashboard.json and config/prometheus/rules.yaml
// to the metrics that the manager has (metrics.json, which controllers/metrics writes)
// and to the query language of Prometheus, by its own parser and engine; and the alerts
// to series on which they have to fire, and on which they have to be silent.
package alerts

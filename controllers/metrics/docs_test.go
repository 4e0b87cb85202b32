package metrics_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

// descriptor finds the name and the labels of a metric in the only form in which the
// library gives them away.
var descriptor = regexp.MustCompile(`fqName: "([a-z_]+)".*variableLabels: \{([a-z,]*)\}`)

// described are the labels of all metrics by name.
func described(t *testing.T) map[string][]string {
	t.Helper()
	registry := &collectors{}
	metrics.New(registry)
	metrics.NewGate(registry, nil)
	registry.MustRegister(&metrics.Fleet{Slots: slots{}}, &metrics.Running{})
	found := map[string][]string{}
	for _, collector := range registry.all {
		descs := make(chan *prometheus.Desc, 100)
		collector.Describe(descs)
		close(descs)
		for desc := range descs {
			match := descriptor.FindStringSubmatch(desc.String())
			if match == nil {
				t.Fatalf("cannot read %s", desc)
			}
			found[match[1]] = slices.DeleteFunc(strings.Split(match[2], ","), func(s string) bool { return s == "" })
		}
	}
	return found
}

type collectors struct{ all []prometheus.Collector }

func (c *collectors) Register(collector prometheus.Collector) error {
	c.MustRegister(collector)
	return nil
}
func (c *collectors) MustRegister(all ...prometheus.Collector) { c.all = append(c.all, all...) }
func (c *collectors) Unregister(prometheus.Collector) bool     { return false }

// TestEveryMetricIsDocumented, with all of its labels, and none that does not exist.
func TestEveryMetricIsDocumented(t *testing.T) {
	have := described(t)
	if len(have) < 15 {
		t.Fatalf("found %d metrics", len(have))
	}
	documented := map[string]bool{}
	name := regexp.MustCompile("`(mcpaudit_[a-z_]+)`")
	for line := range strings.Lines(read(t, "docs", "operations.md")) {
		columns := strings.Split(line, "|")
		if len(columns) < 4 || !strings.HasPrefix(strings.TrimSpace(columns[1]), "`mcpaudit_") {
			continue
		}
		for _, match := range name.FindAllStringSubmatch(columns[1], -1) {
			documented[match[1]] = true
			for _, label := range have[match[1]] {
				if !strings.Contains(columns[2], "`"+label+"`") {
					t.Errorf("docs/operations.md does not tell of the label %s of %s", label, match[1])
				}
			}
		}
	}
	if want, got := slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(documented)); !slices.Equal(want, got) {
		t.Errorf("docs/operations.md has the metrics\n%v\nand there are\n%v", got, want)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

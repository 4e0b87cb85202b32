package alerts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// ofTarget are the labels that Prometheus adds to every series of a ServiceMonitor.
var ofTarget = []string{"job", "instance", "namespace", "pod", "service", "container", "endpoint"}

// suffixes of the series of a histogram.
var suffixes = []string{"_bucket", "_sum", "_count"}

// checker holds queries to the metrics that there are.
type checker struct {
	metrics map[string]metric
	errs    []string
}

func (c *checker) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Sprintf(format, args...))
}

// query checks an expression.
func (c *checker) query(text string) {
	expr, err := promQL.ParseExpr(text)
	if err != nil {
		c.fail("%v", err)
		return
	}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		switch node := node.(type) {
		case *parser.VectorSelector:
			c.selector(node, path)
		case *parser.AggregateExpr:
			have := c.labelsBelow(node.Expr)
			for _, label := range node.Grouping {
				if !have[label] {
					c.fail("what is summed has no label %s", label)
				}
			}
		}
		return nil
	})
}

// selector checks that a series exists, with the labels and the values that it is
// chosen by, and that it is a counter where it is asked how much it grew.
func (c *checker) selector(s *parser.VectorSelector, path []parser.Node) {
	of, kind, exists := c.find(s.Name)
	if !exists {
		c.fail("there is no metric %q", s.Name)
		return
	}
	if grows := slices.ContainsFunc(path, isGrowth); kind != "" && grows != (kind == "counter") {
		c.fail("%s is a %s: rate and increase are for counters, and counters for them", s.Name, kind)
	}
	for _, m := range s.LabelMatchers {
		values, has := of[m.Name]
		switch {
		case m.Name == model.MetricNameLabel, slices.Contains(ofTarget, m.Name):
		case !has:
			c.fail("%s has no label %s", s.Name, m.Name)
		case len(values) == 0:
		default:
			c.matcher(s.Name, m, values)
		}
	}
}

// matcher checks that every value exists that a series is chosen by, or not.
func (c *checker) matcher(name string, m *labels.Matcher, values []string) {
	words := []string{m.Value}
	if m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp {
		words = strings.Split(m.Value, "|")
	}
	for _, word := range words {
		if !slices.Contains(values, word) {
			c.fail("%s has no %s %q", name, m.Name, word)
		}
	}
}

func isGrowth(node parser.Node) bool {
	call, ok := node.(*parser.Call)
	return ok && slices.Contains([]string{"rate", "increase", "irate"}, call.Func.Name)
}

// find is the labels and the type of a series; a counter where it is one of a histogram.
func (c *checker) find(name string) (of map[string][]string, kind string, exists bool) {
	if m, ok := c.metrics[name]; ok && m.Type != "histogram" {
		kind = m.Type
		if kind == "" && strings.HasSuffix(name, "_total") {
			kind = "counter"
		}
		return m.Labels, kind, true
	}
	for _, suffix := range suffixes {
		if base, cut := strings.CutSuffix(name, suffix); cut {
			if m, ok := c.metrics[base]; ok && m.Type == "histogram" {
				of = maps.Clone(m.Labels)
				if suffix == "_bucket" {
					of["le"] = nil
				}
				return of, "counter", true
			}
		}
	}
	return nil, "", false
}

// labelsBelow returns those that the series of an expression have.
func (c *checker) labelsBelow(expr parser.Expr) map[string]bool {
	have := map[string]bool{}
	for _, label := range ofTarget {
		have[label] = true
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			of, _, _ := c.find(s.Name)
			for label := range of {
				have[label] = true
			}
		}
		return nil
	})
	return have
}

func TestQueriesOfAlerts(t *testing.T) {
	for name, r := range rules(t) {
		c := checker{metrics: metrics(t)}
		c.query(r.Expr)
		for _, err := range c.errs {
			t.Errorf("%s: %s: %s", name, r.Expr, err)
		}
	}
}

// variables of Grafana that stand in queries. The data source's is in none.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$job", "mcpaudit-metrics")

var placeholder = regexp.MustCompile(`\{\{ *([a-z_]+) *\}\}`)

func TestQueriesOfTheDashboard(t *testing.T) {
	queries, used := 0, map[string]bool{}
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			queries++
			c := checker{metrics: metrics(t)}
			text := variables.Replace(target.Expr)
			if strings.Contains(text, "$") || !strings.Contains(target.Expr, `job=~"$job"`) {
				c.fail("it has a variable that is not known, or no job")
			}
			if c.query(text); len(c.errs) == 0 {
				c.legend(text, target.Legend)
			}
			for _, err := range c.errs {
				t.Errorf("%s: %s: %s", p.Title, target.Expr, err)
			}
			for name := range metrics(t) {
				used[name] = used[name] || strings.Contains(text, name)
			}
		}
	}
	if queries < 40 {
		t.Errorf("the dashboard has %d queries", queries)
	}
	for name := range metrics(t) {
		if strings.HasPrefix(name, "mcpaudit_") && !used[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// legend checks that a legend names what the series are told apart by, all of it.
func (c *checker) legend(text, legend string) {
	expr, err := promQL.ParseExpr(text)
	if err != nil {
		c.fail("%v", err)
		return
	}
	var grouped []string
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if a, ok := node.(*parser.AggregateExpr); ok {
			grouped = append(grouped, a.Grouping...)
		}
		return nil
	})
	var named []string
	for _, match := range placeholder.FindAllStringSubmatch(legend, -1) {
		named = append(named, match[1])
	}
	grouped = slices.DeleteFunc(grouped, func(label string) bool { return label == "le" })
	slices.Sort(grouped)
	slices.Sort(named)
	if !slices.Equal(grouped, named) {
		c.fail("the legend %q names %v, and the series have %v", legend, named, grouped)
	}
}

// TestCheckerFindsWhatIsWrong: a query that is wrong in one way is not let through.
func TestCheckerFindsWhatIsWrong(t *testing.T) {
	for query, want := range map[string]string{
		`sum(mcpaudit_audits{verdict="Fail"}) > 0`:                                    "",
		`sum by (le) (rate(mcpaudit_audit_wait_seconds_bucket[5m]))`:                  "",
		`sum(mcpaudit_audit{verdict="Fail"})`:                                         "no metric",
		`sum(mcpaudit_audit_wait_seconds)`:                                            "no metric",
		`sum(mcpaudit_audits{result="Fail"})`:                                         "no label result",
		`sum(mcpaudit_audits{verdict="Failed"})`:                                      `no verdict "Failed"`,
		`sum(mcpaudit_audits{verdict=~"Pass|Fial"})`:                                  `no verdict "Fial"`,
		`sum(mcpaudit_inconclusive_audits{reason!="Untraced"})`:                       `no reason "Untraced"`,
		`sum by (cause) (mcpaudit_audits)`:                                            "no label cause",
		`rate(mcpaudit_audits[5m])`:                                                   "is a gauge",
		`sum(mcpaudit_audits_total)`:                                                  "is a counter",
		`sum(mcpaudit_audits`:                                                         "unclosed",
		`sum(rate(controller_runtime_reconcile_errors_total{controler="x"}[5m])) > 0`: "no label controler",
	} {
		c := checker{metrics: metrics(t)}
		c.query(query)
		if got := strings.Join(c.errs, "; "); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

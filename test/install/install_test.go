//go:build install

package install

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	system = "mcpaudit-system"
	team   = "team-a"
	name   = "mcpaudit" // of the helm release
)

var (
	registry = os.Getenv("IMAGE_REGISTRY")
	honest   = registry + "/mcpaudit/honest-node:dev"
	leaky    = registry + "/mcpaudit/leaky-node:dev"
)

func TestNewUser(t *testing.T) {
	for _, variable := range []string{"IMAGE_REGISTRY", "HELM", "DIST", "PREVIOUS_CHART"} {
		if os.Getenv(variable) == "" {
			t.Fatalf("%s is not set: run this by `make test-install`", variable)
		}
	}
	kubectl(t, "create", "namespace", team)
	before := objects(t)
	for _, step := range []struct {
		does string
		do   func(*testing.T)
	}{
		{"helm install with defaults", install},
		{"the samples get their verdicts", samples},
		{"one label and a policy switch the gate on", gate},
		{"the metrics of the dashboard are there", metrics},
		{"an upgrade keeps verdicts, the gate, and an audit in flight", upgrade},
		{"helm uninstall leaves what it says, and blocks nothing", func(t *testing.T) { uninstall(t, before) }},
		{"it can be installed again, and knows what it knew", again},
		{"install.yaml does so too", manifest},
	} {
		began := time.Now()
		if !t.Run(step.does, step.do) {
			explain(t)
			break
		}
		t.Logf("%s: %.0f s", step.does, time.Since(began).Seconds())
	}
}

// explain prints what a person would look at after a failure.
func explain(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"get", "pods", "-A", "-o", "wide"},
		{"-n", team, "get", "mcpserveraudits,mcpauditpolicies", "-o", "wide"},
		{"-n", system, "describe", "deployment,pods"},
		{"-n", system, "logs", "--selector=app.kubernetes.io/component in (manager, gate)", "--prefix", "--tail=30"},
	} {
		out, err := try(t, "kubectl", args...)
		t.Logf("$ kubectl %s (%v)\n%s", strings.Join(args, " "), err, out)
	}
}

// chart returns the path of the release's chart.
func chart(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.Getenv("DIST"), "*.tgz"))
	if err != nil || len(found) != 1 {
		t.Fatalf("charts in DIST: %q, %v", found, err)
	}
	return found[0]
}

// install begins with the chart of the commit before, so that there is an upgrade.
func install(t *testing.T) {
	helm(t, "install", name, os.Getenv("PREVIOUS_CHART"), "--create-namespace", "--set", "global.imageRegistry="+registry, "--set", registries(),
		"--skip-schema-validation", "--wait", "--timeout=4m") // the chart before may not know a value
}

// registries lists the cluster's registry, which has an internal address and no TLS.
func registries() string {
	host, _, _ := strings.Cut(registry, "/")
	return "config.registries.plainHTTP={" + host + "}"
}

func samples(t *testing.T) {
	for _, sample := range []string{"honest", "leaky"} {
		content, err := os.ReadFile("../../config/samples/" + sample + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		apply(t, strings.ReplaceAll(string(content), "ghcr.io/", registry+"/"), "-n", team)
	}
	for audit, want := range map[string]string{"honest": "Pass", "leaky": "Fail"} {
		await(t, "the verdict of "+audit, func() (string, bool) {
			got := verdict(t, audit)
			return got, got != ""
		})
		if got := verdict(t, audit); got != want {
			t.Errorf("%s: %s, want %s", audit, got, want)
		}
	}
	table := kubectl(t, "-n", team, "get", "mcpserveraudits")
	t.Log("\n" + table)
	if !regexp.MustCompile(`(?m)^leaky +Fail +FindingsAboveThreshold `).MatchString(table) {
		t.Error("kubectl get does not show why leaky failed")
	}
}

func gate(t *testing.T) {
	if out, err := deploy(t, leaky); err != nil {
		t.Fatalf("denied before the gate is on: %s", out)
	}
	kubectl(t, "label", "namespace", team, "mcpaudit.dev/gate=enabled")
	apply(t, `{"apiVersion": "mcpaudit.dev/v1alpha1", "kind": "MCPAuditPolicy", "metadata": {"name": "default"}, "spec": {}}`, "-n", team)
	await(t, "the gate to deny the leaky server", func() (string, bool) { return denied(t) })
	out, _ := deploy(t, leaky)
	t.Log(out)
	if out, err := deploy(t, honest); err == nil || !strings.Contains(out, "pin it: image: "+pinned(t)) {
		t.Errorf("a tag is admitted, or nobody says how to pin it: %s", out)
	}
	await(t, "the gate to admit the honest server by its digest", func() (string, bool) {
		out, err := deploy(t, pinned(t))
		return out, err == nil
	})
	if out, err := deploy(t, registry+"/mcpaudit/honest-go:dev"); err == nil {
		t.Errorf("what has no audit is admitted: %s", out)
	}
}

// metrics looks for every metric that the dashboard asks for, at both replicas: some
// are the leader's alone.
func metrics(t *testing.T) {
	dashboard, err := os.ReadFile("../../config/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "-n", team, "create", "serviceaccount", "prometheus")
	token := kubectl(t, "-n", team, "create", "token", "prometheus")
	pods := strings.Fields(kubectl(t, "-n", system, "get", "pods", "--selector=app.kubernetes.io/component in (manager, gate)", "-o", "jsonpath={.items[*].status.podIP}"))
	// somebody else: the manager keeps for half a minute who was refused
	if status, _ := scrape(t, pods[0], kubectl(t, "-n", team, "create", "token", "default")); status != 403 {
		t.Errorf("who may not read the metrics gets status %d", status)
	}
	kubectl(t, "create", "clusterrolebinding", "install-test-metrics", "--clusterrole=mcpaudit-metrics-reader", "--serviceaccount="+team+":prometheus")
	wanted := slices.Compact(slices.Sorted(slices.Values(regexp.MustCompile(`mcpaudit_[a-z_]+`).FindAllString(string(dashboard), -1))))
	// a container that the gate knows, which waits for a client: one of the metrics is of such
	apply(t, `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "server"},
		"spec": {"containers": [{"name": "server", "image": "`+pinned(t)+`", "stdin": true}]}}`, "-n", team)
	await(t, "the metrics that the dashboard asks for", func() (string, bool) {
		var all, said string
		for _, pod := range pods {
			status, text := scrape(t, pod, token)
			all += text
			said += fmt.Sprintf("%s: status %d; ", pod, status)
		}
		missing := slices.DeleteFunc(slices.Clone(wanted), func(metric string) bool {
			return strings.Contains(all, "# TYPE "+regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(metric, "")+" ")
		})
		return fmt.Sprintf("%snobody has %q", said, missing), len(missing) == 0
	})
	t.Logf("%d metrics", len(wanted))
	kubectl(t, "-n", team, "delete", "pod", "server", "--now")
	kubectl(t, "delete", "clusterrolebinding", "install-test-metrics")
	kubectl(t, "-n", team, "delete", "serviceaccount", "prometheus")
}

// upgrade to the chart of this commit, while an audit is under way and somebody keeps
// trying to deploy what failed.
func upgrade(t *testing.T) {
	report := kubectl(t, "-n", team, "get", "mcpserveraudit", "leaky", "-o", "jsonpath={.status.reportRef.name}")
	request := time.Now().Format(time.RFC3339Nano)
	kubectl(t, "-n", team, "annotate", "mcpserveraudit", "honest", "mcpaudit.dev/requestedAt="+request)
	done := make(chan struct{})
	var watch sync.WaitGroup
	tries := 0
	watch.Go(func() {
		for {
			if out, ok := denied(t); !ok {
				t.Errorf("during the upgrade the gate did not deny: %s", out)
			}
			tries++
			select {
			case <-done:
				return
			case <-time.After(300 * time.Millisecond):
			}
		}
	})
	out, err := try(t, os.Getenv("HELM"), "upgrade", name, chart(t), "--namespace", system, "--set", "global.imageRegistry="+registry, "--set", registries(),
		"--set", "podAnnotations.example\\.com/upgraded=yes", "--wait", "--timeout=4m")
	close(done)
	watch.Wait()
	if err != nil {
		t.Fatalf("helm upgrade: %v\n%s", err, out)
	}
	t.Logf("the gate denied %d times of %d meanwhile", tries, tries)
	await(t, "the audit that was in flight", func() (string, bool) {
		handled := kubectl(t, "-n", team, "get", "mcpserveraudit", "honest", "-o", "jsonpath={.status.lastHandledReconcileAt} {.status.conditions[?(@.type=='Auditing')].status}")
		return handled, handled == request+" False"
	})
	for audit, want := range map[string]string{"honest": "Pass", "leaky": "Fail"} {
		if got := verdict(t, audit); got != want {
			t.Errorf("%s: %q after the upgrade, want %s", audit, got, want)
		}
	}
	if after := kubectl(t, "-n", team, "get", "mcpserveraudit", "leaky", "-o", "jsonpath={.status.reportRef.name}"); after != report {
		t.Errorf("leaky was audited again: report %s, before %s", after, report)
	}
}

// left is not removed by `helm uninstall`, as the chart's README lists it.
var left = []string{
	`ConfigMap mcpaudit-system mcpaudit-gate-keepers`,
	`ConfigMap mcpaudit-system mcpaudit-(denied|passed)\.\S+`,
	`CustomResourceDefinition - clustermcpauditpolicies\.mcpaudit\.dev`,
	`CustomResourceDefinition - mcpauditexceptions\.mcpaudit\.dev`,
	`CustomResourceDefinition - mcpauditpolicies\.mcpaudit\.dev`,
	`CustomResourceDefinition - mcpauditreports\.mcpaudit\.dev`,
	`CustomResourceDefinition - mcpserveraudits\.mcpaudit\.dev`,
	`Lease mcpaudit-system manager\.mcpaudit\.dev`,
	`Namespace - mcpaudit-system`,
	`Secret mcpaudit-system mcpaudit-gate-certificate`,
	`Secret mcpaudit-system mcpaudit-environment-key`,
	`ValidatingAdmissionPolicy - mcpaudit-gate-label`,
	`ValidatingAdmissionPolicyBinding - mcpaudit-gate-label`,
	`ValidatingAdmissionPolicyBinding - mcpaudit-(denied|passed)\.\S+`,
}

// What users made, and what the cluster itself adds to a namespace or a CRD, is
// nobody's remainder.
var (
	ofUsers   = regexp.MustCompile(`^MCP\w+ ` + team + ` `)
	ofCluster = regexp.MustCompile(`^(ServiceAccount \S+ default|ConfigMap \S+ kube-root-ca\.crt|APIService - v1alpha1\.mcpaudit\.dev|Lease kube-node-lease \S+)$`)
	passing   = regexp.MustCompile(`^(Lease|EndpointSlice|Endpoints|Pod) `)
)

// compareLeft holds what is there to the list, both ways.
func compareLeft(t *testing.T, after []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, object := range after {
		listed := ""
		for _, pattern := range left {
			if regexp.MustCompile("^" + pattern + "$").MatchString(object) {
				listed = pattern
			}
		}
		if listed == "" {
			t.Errorf("left, and not in the list: %s", object)
		}
		seen[listed] = true
	}
	for _, pattern := range left {
		if !seen[pattern] {
			t.Errorf("in the list, and not left: %s", pattern)
		}
	}
}

func uninstall(t *testing.T, before map[string]bool) {
	helm(t, "uninstall", name, "--wait", "--timeout=3m")
	var after []string
	await(t, "the Pods and the run namespace to go", func() (string, bool) {
		after = slices.DeleteFunc(slices.Sorted(maps.Keys(objects(t))), func(object string) bool {
			return before[object] || ofUsers.MatchString(object) || ofCluster.MatchString(object)
		})
		said := strings.Join(after, "\n")
		return said, !strings.Contains(said, "Pod "+system) && !strings.Contains(said, "mcpaudit-runs")
	})
	compareLeft(t, after)
	now := objects(t)
	for object := range before {
		if !now[object] && !passing.MatchString(object) {
			t.Errorf("gone, and was there before: %s", object)
		}
	}
	for _, image := range []string{leaky, honest} {
		if out, err := deploy(t, image); err != nil {
			t.Errorf("still blocked: %s", out)
		}
	}
	if got := verdict(t, "leaky"); got != "Fail" {
		t.Errorf("the verdict of leaky is %q", got)
	}
}

func again(t *testing.T) {
	helm(t, "install", name, chart(t), "--create-namespace", "--set", "global.imageRegistry="+registry, "--set", registries(), "--wait", "--timeout=4m")
	await(t, "the gate to deny the leaky server again", func() (string, bool) { return denied(t) })
	if out, err := deploy(t, pinned(t)); err != nil {
		t.Errorf("the honest server is denied: %s", out)
	}
	helm(t, "uninstall", name, "--wait", "--timeout=3m")
	kubectl(t, "wait", "--for=delete", "namespace/mcpaudit-runs", "--timeout=3m")
}

func manifest(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(os.Getenv("DIST"), "install.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(content), "ghcr.io/mcpaudit/", registry+"/mcpaudit/")
	// what helm has left has fields of helm's
	apply(t, text, "--server-side", "--force-conflicts")
	for _, deployment := range []string{"mcpaudit-controller-manager", "mcpaudit-gate"} {
		kubectl(t, "-n", system, "rollout", "status", "deployment/"+deployment, "--timeout=3m")
	}
	await(t, "the gate to deny the leaky server", func() (string, bool) { return denied(t) })
	kubectl(t, "delete", "namespace", team) // with its audits, whose finalizers the operator takes off
}

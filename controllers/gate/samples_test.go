package gate_test

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// TestS19HardenedSample: the sample that holds tenants asks about an image under whatever
// name, and no tenant makes it say yes.
func TestS19HardenedSample(t *testing.T) {
	content, err := os.ReadFile("../../config/samples/cluster-gate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	policy := &v1alpha1.ClusterMCPAuditPolicy{}
	if err := yaml.UnmarshalStrict(content, policy); err != nil {
		t.Fatal(err)
	}
	sample, own := gate.ReadClusterPolicy(policy), verdictOf("own")
	reviewed := verdictOf("reviewed", traced, enables(38, report.Exposed{Kind: "FileRead", Reach: "Arbitrary"}), func(v *gate.Verdict) { v.Audit.Namespace = "mcp-reviews" })
	for _, name := range []string{"registry.example/mcp/notes", "docker.io/notes", "registry-1.docker.io/library/notes", "10.0.0.1:5000/notes", "notes"} {
		image := name + "@" + string(index)
		if got := gate.Decide(containers(runs(image)), factsOf(sample, own)); got.Allowed {
			t.Errorf("%s is admitted by an audit of the tenant's own: %+v", image, got)
		}
		if got := gate.Decide(containers(runs(image)), factsOf(sample, own, reviewed)); !got.Allowed {
			t.Errorf("%s is denied, though it was reviewed: %s", image, got.Message)
		}
		shell := verdictOf("shell", traced, by("mcp-reviews"), enables(75, report.Exposed{Kind: "CommandExecution", Reach: "Arbitrary"}))
		if got := gate.Decide(containers(runs(image)), factsOf(sample, own, shell)); got.Allowed {
			t.Errorf("%s is admitted, though it is a shell", image)
		}
		altered := runs(image)
		mounting("/app")(&altered)
		if got := gate.Decide(containers(altered), factsOf(sample, own, reviewed)); got.Allowed {
			t.Errorf("S16: %s is admitted with a volume over its code", image)
		}
	}
}

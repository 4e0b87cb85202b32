package trigger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// TestTrimTwice: what was trimmed is not taken for a whole spec, whatever annotations it
// keeps.
func TestTrimTwice(t *testing.T) {
	audit := &v1alpha1.MCPServerAudit{}
	audit.Spec.Server.Image = "registry.example/notes:1"
	audit.Spec.Server.Args = []string{strings.Repeat("x", 1024)}
	audit.Annotations = map[string]string{}
	for i := range 64 { // JSON makes six bytes of each
		audit.Annotations[fmt.Sprintf("mcpaudit.dev/a%d", i)] = strings.Repeat("<", 200)
	}
	whole, err := trigger.SpecDigest(audit.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := trigger.Trim(audit); err != nil {
			t.Fatal(err)
		}
		if got, err := trigger.DigestOf(audit); err != nil || got != whole {
			t.Fatalf("the digest of the trimmed audit is %s, %v, want %s", got, err, whole)
		}
	}
}

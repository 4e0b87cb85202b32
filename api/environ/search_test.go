package environ

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/codepath"
)

func TestSearchPaths(t *testing.T) {
	env := []string{"PATH=/usr/bin:/app/bin:/usr/bin", "PYTHONPATH=/lib/x/::relative", "LANG=/no/code", "JAVA_TOOL_OPTIONS=-javaagent:/agent.jar"}
	if got, want := SearchPaths(env), []string{"/usr/bin", "/app/bin", "/lib/x", "/agent.jar"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAC5SearchPathsThatAreNotKept: an image may have code loaded from any path that its variables
// name, also from one that does not exist yet.
func TestAC5SearchPathsThatAreNotKept(t *testing.T) {
	var many []string
	for i := range maxSearchPaths + 1 {
		many = append(many, fmt.Sprintf("/path/%d", i))
	}
	for name, value := range map[string]string{
		"many": strings.Join(many, ":"), "a long one": "/app:/" + strings.Repeat("x", maxSearchPath),
	} {
		found := SearchPaths([]string{"PATH=/usr/bin", "PYTHONPATH=" + value})
		if got := codepath.Reduce(append([]string{"/app"}, found...)); got != nil {
			t.Errorf("%s: the code paths are known to be %q", name, got)
		}
	}
	if got := codepath.Reduce(SearchPaths([]string{"PYTHONPATH=" + strings.Join(many[:maxSearchPaths], ":")})); got == nil {
		t.Error("as many as are kept are not known")
	}
}

package rules

import "testing"

// TestAttackedModule: pip reads options, however Python was told to start it.
func TestAttackedModule(t *testing.T) {
	for _, in := range optionally("package", "python3", "-I", "-m", "pip", "show", "--marlow-c7") {
		expect(t, in, "EXEC-005 Medium")
	}
	for _, in := range optionally("package", "python3", "-m", "pip", "show", "--", "--marlow-c7") {
		expect(t, in, "")
	}
}

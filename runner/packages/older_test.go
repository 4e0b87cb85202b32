package packages

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestOlder: only a library that was installed, and only for a complaint about what it has.
func TestOlder(t *testing.T) {
	i := Installed{Report: report.Package{RegistryType: "pypi", Identifier: "notes", Version: "3.0"}, locked: []locked{
		{"notes", "3.0", ""}, {"mcp", "2.1.0", ""}, {"pydantic", "2.9", ""}, {"Odd_Name", "4", ""}, {"young", "0.9", ""},
	}}
	for stderr, want := range map[string]string{
		"Traceback (most recent call last):\nModuleNotFoundError: No module named 'mcp.server.fastmcp'. This is mcp 2.x":                  "mcp<2",
		"Traceback (most recent call last):\nImportError: cannot import name 'McpError' from 'mcp' (/x/mcp/__init__.py)":                  "mcp<2",
		"AttributeError: 'Server' object has no attribute 'list_tools'":                                                                   "mcp<2",
		"TypeError: FastMCP.__init__() got an unexpected keyword argument 'description'":                                                  "mcp<2",
		"AttributeError: module 'odd_name' has no attribute 'x'":                                                                          "Odd_Name<4",
		"ImportError: cannot import name 'x' from 'pydantic.v1'\nDuring handling:\nImportError: cannot import name 'y' from 'young' (/x)": "",
		"ModuleNotFoundError: No module named 'absent'":                                                                                   "",
		"ImportError: cannot import name 'x' from 'notes.server'":                                                                         "",
		"TypeError: can only concatenate str":                                                                                             "",
		"ValueError: mcp":                                                                                                                 "",
	} {
		if want != "" {
			want += " notes==3.0" // AB1: a harmless older version would pass for the newest
		}
		if got := i.Older(stderr); got != want {
			t.Errorf("%q: %q, want %q", stderr, got, want)
		}
	}
	i.Report.RegistryType = "npm"
	if got := i.Older("ImportError: cannot import name 'McpError' from 'mcp' (/x)"); got != "" {
		t.Errorf("npm: %q", got)
	}
}

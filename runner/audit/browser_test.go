package audit

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestMissingBrowser: messages about a missing browser make the gap MissingBrowser, and other failures do not.
func TestMissingBrowser(t *testing.T) {
	for text, want := range map[string]bool{
		"browserType.launch: Executable doesn't exist at /root/.cache/ms-playwright/chromium-1200/chrome-linux/chrome": true,
		`Error: Browser "chrome-for-testing" is not installed. Run npx playwright install`:                             true,
		"Chromium distribution 'chrome' is not found at /opt/google/chrome/chrome":                                     true,
		"Could not find Chrome (ver. 131.0.6778.204). This can occur if":                                               true,
		"Could not find Google Chrome executable for channel 'stable' at: /opt/google/chrome/chrome":                   true,
		"Browser was not found at the configured executablePath (/usr/bin/chromium)":                                   true,
		"unknown error: cannot find Chrome binary":                                                                     true,
		"Chromium executable not found in /root/.local":                                                                true,
		"The page was not found at the given address":                                                                  false,
		"Executable doesn't exist at /usr/bin/ffmpeg":                                                                  false,
		"Could not find browser session 12":                                                                            false,
		"net::ERR_NAME_NOT_RESOLVED at https://example.com in the browser":                                             false,
		"Open the address in your browser. The package is not installed":                                               false,
	} {
		o := watched(func(o *observation) { o.result.Outputs = []report.Output{{Kind: report.OutputError, Text: text}} })
		var all collection
		all.browsers([]observation{o, o})
		got := all.gaps()
		if (len(got) == 1) != want || want && (!strings.Contains(got[0].Detail, "--executable-path") || len(got[0].Detail) > 512) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

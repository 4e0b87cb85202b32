package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

var reasons = mark{"<!-- reasons of Audited=False: generated from api/report by make manifests -->", "<!-- end of the reasons -->"}

// updateReasons updates the table of report.Causes in a page.
func updateReasons(page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	var rows strings.Builder
	rows.WriteString("| `Audited` is False | the audit is incomplete, because | seen by | retried |\n|---|---|---|---|\n")
	for _, c := range report.Causes {
		fmt.Fprintf(&rows, "| [`%s`](../troubleshooting.md#%s) | %s | %s | %s |\n", c.Reason, strings.ToLower(string(c.Reason)), plain(c.Meaning), c.By, c.Retry)
	}
	fresh, err := replace(string(text), reasons, rows.String())
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(fresh), 0o644)
}

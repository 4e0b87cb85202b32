//go:build outputs

package outputs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const htmlValidateVersion = "8.29.0"

// htmlRules of the HTML standard and of WCAG that can be told from the text.
const htmlRules = `{"root": true, "extends": ["html-validate:standard", "html-validate:document", "html-validate:a11y"], "rules": {
  "no-inline-style": "error", "heading-level": "error", "require-sri": "error", "script-element": "error", "no-unused-disable": "off"}}`

func TestHTML(t *testing.T) {
	tool := filepath.Join(npm(t, "html-validate", htmlValidateVersion), "bin", "html-validate.js")
	all := files(t, "html", ".html")
	dir := filepath.Dir(all[0])
	config := filepath.Join(dir, "rules.json")
	if err := os.WriteFile(config, []byte(htmlRules), 0o644); err != nil {
		t.Fatal(err)
	}
	if said := run(t, dir, "node", append([]string{tool, "--config", config}, all...)...); strings.TrimSpace(said) != "" {
		t.Error(said)
	}
	wrong := filepath.Join(dir, "wrong.html")
	page, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wrong, []byte(strings.Replace(string(page), "<main>", `<main><div><img src=x onerror=alert(1)><p style="x">`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "node", tool, "--config", config, wrong).CombinedOutput()
	if err == nil || !strings.Contains(string(said), "no-inline-style") {
		t.Errorf("nothing is wrong with a page into which somebody wrote: %v, %s", err, said)
	}
	t.Logf("%d files were checked", len(all))
}

package render_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

var variable = regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`)

// themes are the colours of the page: light, dark, and on paper.
func themes(t *testing.T) map[string]map[string]string {
	t.Helper()
	style, err := os.ReadFile(filepath.Join("html", "page.css"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	roots := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(string(style), -1)
	if len(roots) != 3 {
		t.Fatalf("the style has %d sets of colours", len(roots))
	}
	for i, name := range []string{"light", "dark", "print"} {
		all[name] = map[string]string{}
		for _, match := range variable.FindAllStringSubmatch(roots[i][1], -1) {
			all[name][match[1]] = match[2]
		}
	}
	return all
}

// luminance is the relative luminance of WCAG 2.2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(colour, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(shift uint) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}

// TestHTMLContrast: every text has 4.5:1 to what it stands on (WCAG 2.2, 1.4.3, AA).
func TestHTMLContrast(t *testing.T) {
	pairs := [][2]string{
		{"text", "page"}, {"text", "box"}, {"text", "fail-box"}, {"text", "pass-box"}, {"text", "open-box"}, {"text", "open-stripe"},
		{"soft", "page"}, {"soft", "box"}, {"link", "page"}, {"link", "box"}, {"hidden", "page"}, {"hidden", "box"}, {"hidden", "fail-box"}, {"hidden", "open-box"},
		{"hidden", "open-stripe"}, {"fail", "fail-box"}, {"pass", "pass-box"}, {"open", "open-box"}, {"open", "open-stripe"},
		{"fail", "page"}, {"pass", "page"}, {"open", "page"}, {"fail", "box"}, {"pass", "box"},
		{"on", "critical"}, {"on", "high"}, {"on", "medium"}, {"on", "low"}, {"on", "info"},
	}
	for name, colours := range themes(t) {
		for _, pair := range pairs {
			a, b := luminance(t, colours[pair[0]]), luminance(t, colours[pair[1]])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
				t.Errorf("%s: %s on %s has %.2f:1", name, pair[0], pair[1], ratio)
			}
		}
	}
}

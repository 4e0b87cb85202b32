package docs

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestLinks follows every link within the tree. Those that lead out are only read: the
// tests reach nothing outside.
func TestLinks(t *testing.T) {
	all := map[string]*page{}
	for _, p := range pages(t) {
		all[p.path] = p
	}
	reached := map[string]bool{}
	for _, p := range all {
		for _, link := range p.links {
			if fault := follow(all, p, link.text, reached); fault != "" {
				t.Errorf("%s:%d: %s: %s", p.path, link.line, link.text, fault)
			}
		}
	}
	for name := range all {
		if !reached[name] && name != "README.md" && name != "CONTRIBUTING.md" && !strings.HasPrefix(name, "charts/") {
			t.Errorf("%s: no page links to it", name)
		}
	}
}

// follow says what is wrong with a link of the page.
func follow(all map[string]*page, from *page, link string, reached map[string]bool) string {
	to, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case to.Scheme == "http" || to.Scheme == "https":
		if to.Hostname() == "" || strings.ContainsAny(link, " \t<>\"") {
			return "not an address"
		}
		return ""
	case to.Scheme == "mailto":
		return ""
	case to.Scheme != "" || to.Host != "" || strings.HasPrefix(to.Path, "/"):
		return "neither an https address nor a path from this page"
	}
	target := from.path
	if to.Path != "" {
		target = path.Join(path.Dir(from.path), to.Path)
		if strings.HasPrefix(target, "..") {
			return "leads out of the tree"
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
			return "there is no such file"
		}
	}
	if target != from.path {
		reached[target] = true
	}
	if to.Fragment == "" {
		return ""
	}
	page := all[target]
	if page == nil {
		return "an anchor of what is no page of the documentation"
	}
	if !slices.Contains(page.anchors(), to.Fragment) {
		return "the page has no such heading; it has " + strings.Join(page.anchors(), ", ")
	}
	return ""
}

// anchors returns those that GitHub gives the headings of a page: in small letters, without
// punctuation, with hyphens for spaces, and with a number from the second of a name on.
func (p *page) anchors() []string {
	all, taken := slices.Clone(p.ids), map[string]int{}
	for _, heading := range p.headings {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading))
		count := taken[anchor]
		taken[anchor]++
		if count > 0 {
			anchor += "-" + strconv.Itoa(count)
		}
		all = append(all, anchor)
	}
	return all
}

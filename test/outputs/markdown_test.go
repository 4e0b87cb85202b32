//go:build outputs

package outputs

import (
	"regexp"
	"strings"
	"testing"
)

// cmarkgfm is GitHub's own parser of Markdown.
const cmarkgfmVersion = "2025.10.22"

const toHTML = `
import sys
sys.path.insert(0, sys.argv[1])
import cmarkgfm
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as f:
        print(cmarkgfm.github_flavored_markdown_to_html(f.read(), options=cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE))
    print("END", name)
`

var (
	tag = regexp.MustCompile(`<[^>]*>`)
	// ours are the elements that we write: no image, and no link but those to the rules.
	ours = regexp.MustCompile(`^</?(h2|h3|p|ul|li|strong|code|table|thead|tbody|tr|th|td|a)>$|^<a href="https://github\.com/mcpaudit/mcpaudit/blob/main/docs/rules\.md#mcpa-[a-z]+-[0-9]{3}">$`)
	// inCode are code spans, in which GitHub and GitLab look for no references.
	inCode = regexp.MustCompile(`(?s)<code>.*?</code>|<a .*?</a>`)
)

// TestMarkdown: GitHub's parser makes no link, image or HTML of a server's texts, and
// what of them is in no code span has nothing in it that a reference is made of.
func TestMarkdown(t *testing.T) {
	all := files(t, "markdown", ".md")
	said := run(t, t.TempDir(), python, append([]string{"-c", toHTML, pip(t, "cmarkgfm", cmarkgfmVersion)}, all...)...)
	parts := strings.Split(said, "END ")
	if len(parts) != len(all)+1 {
		t.Fatalf("%d texts of %d files", len(parts)-1, len(all))
	}
	for i, html := range parts[:len(all)] {
		if i > 0 {
			_, html, _ = strings.Cut(html, "\n")
		}
		for _, element := range tag.FindAllString(html, -1) {
			if !ours.MatchString(element) {
				t.Errorf("%s has the element %s", all[i], element)
			}
		}
		if rest := tag.ReplaceAllString(inCode.ReplaceAllString(html, ""), ""); strings.ContainsAny(rest, "@#/&") && !onlyQuotes(rest) {
			t.Errorf("%s has outside of code: %q", all[i], rest)
		}
		if !strings.Contains(html, "<h2>") {
			t.Errorf("%s has no heading: %s", all[i], html)
		}
	}
	t.Logf("%d files were checked", len(all))
}

// onlyQuotes reports whether the entities of a text are those of quotation marks.
func onlyQuotes(text string) bool {
	return !strings.ContainsAny(strings.ReplaceAll(text, "&quot;", ""), "@#/&")
}

package audit

import (
	"fmt"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// noBrowser matches how libraries that drive a browser report that none is installed: Playwright, Puppeteer,
// chrome-devtools-mcp, Selenium and pyppeteer, in this order.
var noBrowser = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)executable (?:doesn't|does not) exist at [^\n]*(?:chrom|firefox|webkit|headless_shell|edge|playwright)`),
	lazyregexp.New(`(?i)\b(?:chrom\w+|firefox|webkit|edge|browser)\b[^\n.]{0,60} (?:is|was) not (?:installed|found at)\b`),
	lazyregexp.New(`(?i)\b(?:could not|cannot|can't|unable to) (?:find|locate) (?:an? |the )?(?:installed |google |microsoft )*(?:chrom\w+|firefox|webkit|edge|browser)\b(?: \(ver| executable| binary| at |[.\n]|$)`),
	lazyregexp.New(`(?i)\b(?:chrom\w+|firefox|browser) (?:executable|binary) (?:was )?not found\b`),
}

// browsers adds that the server reported a browser as missing. No stand-in speaks a browser's protocol, so only a real
// one lets these tools be exercised.
func (c *collection) browsers(runs []observation) {
	for _, o := range runs {
		if says := o.lacksBrowser(); says != "" {
			c.add("MissingBrowser", 1, fmt.Sprintf("the server drives a browser, which the machine of the audit lacks: install one, such as Debian's chromium, "+
				"and name it by the server's own option, such as --executable-path /usr/bin/chromium --no-sandbox; the server said: %.120q", says))
			return
		}
	}
}

// lacksBrowser returns the words by which the server reported a browser as missing; "" for none.
func (o observation) lacksBrowser() string {
	for _, text := range o.reported() {
		for _, missing := range noBrowser {
			if found := missing.FindString(text); found != "" {
				return found
			}
		}
	}
	return ""
}

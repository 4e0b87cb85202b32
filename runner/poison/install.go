package poison

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// host matches an address up to its host.
const host = `https?://(?:[^\s/@"']*@)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)`

var (
	// installing matches commands that run or install code from an address.
	installing = lazyregexp.New(`(?i)\b(?:curl|wget|iwr|irm|fetch)\b[^|\n]{0,160}?` + host + `[^|\n]{0,160}\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:(?:ba|z|da|k)?sh|iex|python3?|node|perl|ruby)\b` +
		`|(?:\b(?:ba|z|da|k)?sh|\bsource|\beval)\s+(?:-c\s+)?["']?[<$]\(\s*(?:curl|wget)\b[^)\n]{0,160}?` + host +
		`|\b(?:npm|pnpm|yarn|pip3?|uv|gem|cargo|go|npx|uvx|pipx)\s+(?:[\w@.:/-]+\s+){0,6}?(?:--(?:extra-)?(?:index-url|registry|source|index)[= ])?(?:git\+)?` + host +
		`|\b(?:python3?|node|perl|ruby)\s+-[ce]\s[^\n]{0,160}?` + host)
	// resuming matches words that make a command a condition of the next call.
	resuming = lazyregexp.New(`(?i)\b(?:then|and|before|until|afterwards)\s+(?:\w+\s+)?(?:re-?try|repeat|call|invoke|resubmit)\w*\b|\b(?:next|another|each|the)\s+(?:tool\s+)?call\b|\bthis\s+(?:command\s+)?first\b` +
		`|\b(?:call|try|use|invoke|run)\s+(?:\S+\s+){0,3}again\b`)
)

// Install is a command that runs code from elsewhere.
type Install struct {
	Quote, Host string
	// Resumes is set if the text makes it a condition of a call.
	Resumes bool
}

// Installs returns the first command of a text that runs code from elsewhere.
func Installs(text string) (Install, bool) {
	text = text[:min(len(text), maxInject)]
	all := installing.FindAllStringSubmatchIndex(text, 1)
	if all == nil || strings.HasPrefix(strings.TrimSpace(text[all[0][1]:]), "-m json") { // shows data
		return Install{}, false
	}
	at := all[0]
	found := Install{Quote: passageAt(text, at[0], at[1]), Resumes: resuming.MatchString(text[max(0, at[0]-passage/2):min(len(text), at[1]+passage/2)])}
	found.Resumes = found.Resumes || orderedAbroad(found.Quote)
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 {
			found.Host = strings.ToLower(text[at[i]:at[i+1]])
		}
	}
	return found, true
}

// orderedAbroad reports whether a sentence in another language than English tells somebody to run something first.
func orderedAbroad(sentence string) bool {
	return slices.ContainsFunc(readings(sentence), func(r reading) bool {
		return r.name != english && r.has(partCall) && r.has(partOccasion, partMust)
	})
}

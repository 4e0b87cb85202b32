package audit

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// maxPassed bounds the arguments that left in calls of other capabilities, by number.
const maxPassed = 64

// passedOn returns which arguments left in a call of another capability than the one that they were for. Their marks show
// it: as they are, percent-encoded, and in hex and base64.
func passedOn(captures []sinkhole.Capture, result probe.Result, secrets *leak.Collector, names *pseudonym.Names) (all []rules.PassedOn) {
	owners := markedFor(result.Arguments)
	known := map[rules.PassedOn]bool{}
	for _, c := range captures {
		if c.Opaque || len(c.Data) == 0 {
			continue
		}
		var marks []string
		for _, text := range decodings(string(c.Data)) {
			marks = append(marks, inputs.Marks([]byte(names.In(text)))...)
		}
		if len(marks) == 0 {
			continue
		}
		where := secrets.Place(c, result.Ledger)
		for _, mark := range marks {
			of := owners[mark]
			p := rules.PassedOn{By: where.Capability, Host: hostOf(c)}
			if where.Phase != report.PhaseCall || len(of) != 1 || of[0] == p.By || len(all) >= maxPassed {
				continue
			}
			if p.Of = of[0]; known[p] {
				continue
			}
			known[p] = true
			p.Evidence = report.Evidence{Time: report.At(c.Time), Attribution: where.Attribution,
				Detail: strings.ToUpper(c.Protocol) + " to " + p.Host + ": " + c.Request + " [" + mark + " of " + p.Of.String() + "]"}
			all = append(all, p)
		}
	}
	return all
}

// markedFor returns the capabilities that were called with each mark.
func markedFor(all map[report.Capability][]probe.Argument) map[string][]report.Capability {
	owners := map[string][]report.Capability{}
	for of, arguments := range all {
		for _, a := range arguments {
			for _, mark := range inputs.Marks([]byte(a.Value)) {
				if !slices.Contains(owners[mark], of) {
					owners[mark] = append(owners[mark], of)
				}
			}
		}
	}
	return owners
}

// encoded matches runs of base64 and hex that are long enough to hold a mark.
var encoded = lazyregexp.New(`[A-Za-z0-9+/_-]{16,}`)

// decodings returns a text, and what it holds percent-encoded, in hex and in base64.
func decodings(text string) []string {
	all := []string{text}
	if plain, err := url.QueryUnescape(text); err == nil && plain != text {
		all = append(all, plain)
	}
	for _, run := range encoded.FindAllString(text, maxPassed) {
		if plain, err := hex.DecodeString(run); err == nil {
			all = append(all, string(plain))
		}
		run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
		if plain, err := base64.RawStdEncoding.DecodeString(run[:len(run)/4*4]); err == nil {
			all = append(all, string(plain))
		}
	}
	return all
}

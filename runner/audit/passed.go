package audit

import (
	"encoding/base64"
	"encoding/hex"
	"net/netip"
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

// passedOn returns which arguments left in a call of another capability than the one that they were for: to another
// machine, or in an address of the answer, which clients load or show as a link. Their marks show it: as they are,
// percent-encoded, and in hex and base64.
func passedOn(captures []sinkhole.Capture, result probe.Result, secrets *leak.Collector, names *pseudonym.Names) []rules.PassedOn {
	owners, arguments := markedFor(result.Arguments)
	p := passing{owners: owners, arguments: arguments, names: names, known: map[rules.PassedOn]bool{}}
	for _, c := range captures {
		if marks := p.marks(string(c.Data)); !c.Opaque && len(marks) > 0 {
			if where := secrets.Place(c, result.Ledger); where.Phase == report.PhaseCall {
				p.add(marks, rules.PassedOn{By: where.Capability, Host: hostOf(c), Evidence: report.Evidence{
					Time: report.At(c.Time), Attribution: where.Attribution, Detail: strings.ToUpper(c.Protocol) + " to " + hostOf(c) + ": " + c.Request}})
			}
		}
	}
	for _, out := range result.Outputs {
		for _, address := range addresses.FindAllString(out.Text, maxPassed) {
			if to, err := url.Parse(address); err == nil && out.Kind == report.OutputResult && !p.isKnown(to.Hostname()) {
				p.add(p.marks(address), rules.PassedOn{By: out.Capability, Host: to.Hostname(), Answer: true, Evidence: report.Evidence{
					Attribution: report.AttributionInFlight, Detail: "an address in the answer: " + address}})
			}
		}
	}
	return p.found
}

// addresses matches the addresses of web pages and pictures in a text.
var addresses = lazyregexp.New(`https?://[^\s"'<>)\]}\\]+`)

// passing finds which arguments left in calls of other capabilities.
type passing struct {
	owners map[string][]report.Capability
	names  *pseudonym.Names
	// arguments are all that any capability was called with.
	arguments string
	known     map[rules.PassedOn]bool
	found     []rules.PassedOn
}

// isKnown reports whether a host is this machine or was part of an argument: its addresses are then the user's own.
func (p *passing) isKnown(host string) bool {
	at, err := netip.ParseAddr(host)
	local := host == "" || host == "localhost" || err == nil && !at.IsGlobalUnicast()
	return local || strings.Contains(p.arguments, host)
}

// marks returns the marks of calls in a text, encoded ones as well.
func (p *passing) marks(text string) (all []string) {
	for _, text := range decodings(text) {
		all = append(all, inputs.Marks([]byte(p.names.In(text)))...)
	}
	return all
}

// add adds what left with some marks, once for each capability that alone was called with one of them.
func (p *passing) add(marks []string, left rules.PassedOn) {
	for _, mark := range marks {
		of := p.owners[mark]
		if len(of) != 1 || of[0] == left.By || len(p.found) >= maxPassed {
			continue
		}
		key := rules.PassedOn{Of: of[0], By: left.By, Host: left.Host, Answer: left.Answer}
		if p.known[key] {
			continue
		}
		p.known[key] = true
		one := left
		one.Of, one.Evidence.Detail = of[0], left.Evidence.Detail+" ["+mark+" of "+of[0].String()+"]"
		p.found = append(p.found, one)
	}
}

// markedFor returns the capabilities that were called with each mark, and all arguments.
func markedFor(all map[report.Capability][]probe.Argument) (owners map[string][]report.Capability, text string) {
	var arguments strings.Builder
	owners = map[string][]report.Capability{}
	for of, given := range all {
		for _, a := range given {
			arguments.WriteString(a.Value + "\n")
			for _, mark := range inputs.Marks([]byte(a.Value)) {
				if !slices.Contains(owners[mark], of) {
					owners[mark] = append(owners[mark], of)
				}
			}
		}
	}
	return owners, arguments.String()
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

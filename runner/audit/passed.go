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

// maxPassed bounds the arguments that left in calls of other capabilities, and maxAddresses the addresses of an answer
// that are looked at, by number.
const maxPassed, maxAddresses = 64, 1024

// passedOn returns which arguments left in a call of another capability than the one that they were for: to another
// machine, or in an address of the answer, which clients load or show as a link. Their marks show it: as they are,
// percent-encoded, and in hex and base64.
func passedOn(captures []sinkhole.Capture, result probe.Result, secrets *leak.Collector, names *pseudonym.Names) []rules.PassedOn {
	p := passing{owners: markedFor(result.Arguments), names: names, known: map[rules.PassedOn]bool{}}
	for _, c := range captures {
		if c.Opaque {
			continue
		}
		// A request that may belong to another call says nothing.
		if where := secrets.Place(c, result.Ledger); where.Phase == report.PhaseCall && where.Attribution != report.AttributionOverlap {
			p.add(p.marks(string(c.Data)), rules.PassedOn{By: where.Capability, Host: hostOf(c), Evidence: report.Evidence{
				Time: report.At(c.Time), Attribution: where.Attribution, Detail: strings.ToUpper(c.Protocol) + " to " + hostOf(c) + ": " + c.Request}})
		}
	}
	for _, out := range result.Outputs {
		for _, address := range addresses.FindAllString(out.Text, maxAddresses) {
			if to, err := url.Parse(address); err == nil && out.Kind == report.OutputResult && !p.isKnown(to.Hostname()) {
				p.add(p.marks(address), rules.PassedOn{By: out.Capability, Host: to.Hostname(), Answer: true, Evidence: report.Evidence{
					Attribution: report.AttributionInFlight, Detail: "an address in the answer: " + address}})
			}
		}
	}
	return p.found
}

// addresses matches the addresses of web pages and pictures in a text, without the fragment, which no client sends.
var addresses = lazyregexp.New(`(?i)https?://[^\s"'<>)\]}\\#,;|]+`)

// passing finds which arguments left in calls of other capabilities.
type passing struct {
	owners map[string][]report.Capability
	names  *pseudonym.Names
	known  map[rules.PassedOn]bool
	found  []rules.PassedOn
}

// isKnown reports whether a host is of the user's own network, or was made for an argument.
func (p *passing) isKnown(host string) bool {
	host = strings.ToLower(host)
	if at, err := netip.ParseAddr(host); err == nil {
		return !at.IsGlobalUnicast() || at.IsPrivate()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost") || inputs.Named(p.names.In(host))
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

package report

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Suppression accepts a known finding until a date. The finding stays in the report and in
// the counts but does not fail the audit.
type Suppression struct {
	// rule is the id of the rule, such as MCPA-EGRESS-001.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^MCPA-[A-Z]+-[0-9]{3}$`
	// +kubebuilder:validation:XValidation:rule="self != 'MCPA-MANIFEST-001'",message="a changed manifest is approved by spec.baseline: mode Pinned with its manifestDigest"
	Rule string `json:"rule"`
	// match is a text that the finding's message or its capability ("tool fetch") must contain,
	// as whole words, hosts or paths. If it ends with "/", it also matches everything below that
	// directory. "*" matches every finding of the rule that is not Critical.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self == '*' || size(self) >= 3",message="match needs at least 3 characters of the finding's message or capability, or \"*\""
	Match string `json:"match"`
	// reason explains to readers why this is acceptable.
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`
	// until is the end of the suppression, after which the finding counts again, such as
	// 2026-12-31T00:00:00Z, at most a year ahead.
	// +required
	Until Time `json:"until,omitzero"`
}

// Suppressed is the suppression of a finding, in force or expired.
type Suppressed struct {
	// reason of the suppression.
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason" cap:"512"`
	// until when it is suppressed.
	Until Time `json:"until"`
	// expired: the suppression has ended, and the finding counts again.
	// +optional
	Expired bool `json:"expired,omitempty"`
}

// The bounds of a suppression.
const (
	// MaxSuppressions bounds the suppressions of one audit.
	MaxSuppressions = 128
	// MaxSuppressionTime bounds how far ahead a suppression may end, so that it is reviewed.
	MaxSuppressionTime = 366 * 24 * time.Hour
	// The lengths of match and reason are in characters, as in the CRD.
	minMatch, maxMatch   = 3, 256
	minReason, maxReason = 8, 512
)

var ruleID = regexp.MustCompile(`^MCPA-[A-Z]+-[0-9]{3}$`)

// Check returns what is wrong with a suppression, in one line. An expired one is not wrong:
// its findings say that it has expired.
func (s Suppression) Check(now time.Time) error {
	switch {
	case !ruleID.MatchString(s.Rule):
		return fmt.Errorf("rule %q: want the id of a rule, such as MCPA-EGRESS-001", s.Rule)
	case s.Rule == RuleManifestChanged:
		return fmt.Errorf("%s cannot be suppressed: approve the manifest, by pinning its digest or with a newer baseline", s.Rule)
	case s.Match != anything && utf8.RuneCountInString(s.Match) < minMatch:
		return fmt.Errorf(`match %q: want at least %d characters of the finding's message or capability, or "*"`, s.Match, minMatch)
	case utf8.RuneCountInString(s.Match) > maxMatch:
		return fmt.Errorf("match: %d characters, more than the %d allowed", utf8.RuneCountInString(s.Match), maxMatch)
	case utf8.RuneCountInString(strings.TrimSpace(s.Reason)) < minReason:
		return fmt.Errorf("reason %q: want at least %d characters that say why this is accepted", s.Reason, minReason)
	case utf8.RuneCountInString(s.Reason) > maxReason:
		return fmt.Errorf("reason: %d characters, more than the %d allowed", utf8.RuneCountInString(s.Reason), maxReason)
	case s.Until.IsZero():
		return errors.New("until: missing; want a date such as 2026-12-31 or 2026-12-31T12:00:00Z")
	case s.Until.After(now.Add(MaxSuppressionTime)):
		return fmt.Errorf("until %s: want at most a year ahead", s.Until.UTC().Format(time.DateOnly))
	}
	return nil
}

// ParseUntil parses the end of a suppression: an RFC 3339 time, or a date, which stands for
// the last second of that day in UTC.
func ParseUntil(text string) (Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return At(day.Add(24*time.Hour - time.Second)), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return Time{}, fmt.Errorf("until %q: want a date such as 2026-12-31, or a time such as 2026-12-31T12:00:00Z", text)
	}
	return At(at), nil
}

// Suppress returns a copy of the findings with the suppressed ones marked, and the
// suppressions that match no finding. It replaces earlier marks: only the judge decides what
// is accepted.
func Suppress(findings []Finding, by []Suppression, now time.Time) (marked []Finding, unused []Suppression) {
	marked = make([]Finding, len(findings))
	used := make([]bool, len(by))
	for i, f := range findings {
		f.Suppressed = nil
		for j, s := range by {
			if !s.matches(f) {
				continue
			}
			used[j] = true
			if f.Suppressed == nil || s.Until.After(f.Suppressed.Until.Time) {
				f.Suppressed = &Suppressed{Reason: s.Reason, Until: s.Until, Expired: !now.Before(s.Until.Time)}
			}
		}
		marked[i] = f
	}
	for j, s := range by {
		if !used[j] {
			unused = append(unused, s)
		}
	}
	return marked, unused
}

// anything is the match of every finding that is not Critical.
const anything = "*"

// matches reports whether a suppression applies to a finding.
func (s Suppression) matches(f Finding) bool {
	switch {
	case s.Rule != f.Rule || s.Rule == RuleManifestChanged || s.Match == "":
		return false
	case s.Match == anything:
		return f.Severity.Rank() >= 0 && f.Severity != SeverityCritical
	}
	of := f.Capability.String()
	if s.Match == of {
		return true
	}
	if strings.ContainsAny(s.Match, "./:") && mentions(of, s.Match) {
		return false // a tool named "api.example.com" may connect anywhere
	}
	return mentions(f.deed(), s.Match) || mentions(of, s.Match)
}

// deed returns the part of the message that says what was done. It leaves out what the server
// chooses (quotes of its texts, names of other capabilities, arguments of programs), by which
// it could match any suppression.
func (f Finding) deed() string {
	text := f.Message
	for _, quotes := range []string{` says "`, ` say "`} {
		text, _, _ = strings.Cut(text, quotes)
	}
	if _, rest, ok := strings.Cut(text, ", the server "); ok && strings.HasPrefix(text, "In the background, after ") {
		text = rest
	}
	if from, to := strings.Index(text, " ("), strings.LastIndexByte(text, ')'); strings.HasPrefix(f.Rule, "MCPA-EXEC-") && from >= 0 && from < to {
		text = text[:from] + text[to+1:]
	}
	return text
}

// mentions reports whether a text has a word, host or path as a whole: api.example.com does
// not match api.example.com.evil.test, nor ~/.ssh/config another file in ~/.ssh.
func mentions(text, word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		left := []rune(text[max(0, at-2*utf8.UTFMax):at])
		right := []rune(text[at+len(word) : min(len(text), at+len(word)+2*utf8.UTFMax)])
		slices.Reverse(left)
		if !continues(first, left) && (last == '/' || !continues(last, right)) {
			return true
		}
		from = at + 1
	}
}

// continues reports whether a name continues beyond the edge of a word. beside has the runes
// beyond it, nearest first. A dot or slash continues a name if more of the name follows.
func continues(edge rune, beside []rune) bool {
	if !ofName(edge) && edge != '.' && edge != '/' {
		return false
	}
	if len(beside) > 1 && (beside[0] == '.' || beside[0] == '/') {
		beside = beside[1:]
	}
	return len(beside) > 0 && ofName(beside[0])
}

// ofName reports whether words, hosts and file names may contain a rune.
func ofName(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}

// Counting returns the findings that count for the verdict: those not suppressed at present.
func Counting(findings []Finding) []Finding {
	var all []Finding
	for _, f := range findings {
		if !f.held() {
			all = append(all, f)
		}
	}
	return all
}

// held reports whether a finding is suppressed at present.
func (f Finding) held() bool { return f.Suppressed != nil && !f.Suppressed.Expired }

package poison

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// Statements can take the place of orders about the tools of other servers: what these give is called invalid until
// it went through this one, a recipient is said to be part of their calls, or the user's choice of them is overruled.

// provider reports whether the token at i is the noun for a tool or server of another kind than the server's:
// "the browser tool", "other servers", "the Gmail connector".
func (r *reader) provider(s *sentence, i int) bool {
	if !providers[s.text(i)] || i == 0 {
		return false
	}
	before := s.Tokens[i-1]
	return before.Text == "other" || before.Kind == words.Word && !r.ownKind(before) && !noTool[before.Text] && !articles[before.Text] && !callVerbs[before.Text]
}

// itself reports whether the token at i means the text's own tool.
func (r *reader) itself(s *sentence, i int) bool {
	if s.text(i) == "here" {
		return true
	}
	if s.text(i) == "this" {
		return s.any(i+1, i+2, providers)
	}
	return r.isOwn(s.Tokens[i].Raw)
}

// holdsBack reports whether what other tools give is said to count only once this tool had it.
func (r *reader) holdsBack(all []sentence, i int) bool {
	s := &all[i]
	for j := range s.Tokens {
		if !r.provider(s, j) || !s.any(j-5, j-2, gives) {
			continue
		}
		own := s.find(j+1, len(s.Tokens)-1, func(k int) bool { return r.itself(s, k) })
		if own < 0 || s.any(j+1, own, may) {
			continue
		}
		counts := s.find(j+1, own, func(k int) bool { return validity[s.text(k)] && s.any(k-4, own, waits) }) >= 0
		passes := s.text(own-1) == "through" && s.any(own+1, own+2, preceding)
		if counts || passes {
			return true
		}
	}
	return false
}

// addsRecipient reports whether a fixed address is said to be part of what another tool does.
func (r *reader) addsRecipient(all []sentence, i int) verdict {
	s := &all[i]
	own := r.text[s.Start:s.End]
	account := payee(own)
	if !account && !mailAddress.MatchString(strings.ToLower(own)) || s.has(harmless) || isExample.MatchString(own) {
		return verdict{}
	}
	for j := range s.Tokens {
		ref := r.refAt(s, j)
		other := ref.other() && !ref.known && compound(ref.name) && s.has(beneficiaries) || account && s.text(j-1) == "other" && r.provider(s, j)
		if other && s.any(j+1, len(s.Tokens)-1, gets) {
			return verdict{confidence: 0.8, tools: named(ref)}
		}
	}
	return verdict{}
}

// copiesAll reports whether a fixed address is to be a recipient of mails of any tool: "cc x@y.org on whatever mail".
func (r *reader) copiesAll(all []sentence, i int) bool {
	s := &all[i]
	if s.has(harmless) || s.has(may) || isExample.MatchString(r.text[s.Start:s.End]) {
		return false
	}
	every := s.find(0, len(s.Tokens)-1, func(j int) bool {
		return (universal[s.text(j)] || s.text(j) == "whatever") && s.any(j+1, j+2, mails)
	})
	fixed := s.find(0, len(s.Tokens)-1, func(j int) bool {
		return mailAddress.MatchString(s.text(j)) && (s.any(j-2, j-1, copying) || s.any(j+1, j+4, beneficiaries))
	})
	return every >= 0 && fixed >= 0
}

// awaitsDelivery reports whether results are said to count only once something has come to a fixed address: "provisional until the
// portfolio was submitted to https://...".
func (r *reader) awaitsDelivery(all []sentence, i int) bool {
	s := &all[i]
	if s.has(harmless) || isExample.MatchString(r.text[s.Start:s.End]) {
		return false
	}
	for j, t := range s.Tokens {
		if (t.Kind == words.Place || t.Kind == words.Quoted) && words.IsPlace(t.Text) && strings.ContainsAny(t.Text, "@:") && s.bound(j) && s.isCondition(j) {
			return true
		}
	}
	return false
}

// isCondition reports whether a clause that ends with the address at i is the condition of a main clause about results.
func (s *sentence) isCondition(i int) bool {
	delivered := s.find(i-1, i-9, s.delivers)
	if delivered < 0 {
		return false
	}
	condition := s.find(delivered, i-16, func(j int) bool { return conditions[s.text(j)] })
	return condition >= 0 && (s.any(0, condition-1, grants) || s.any(i+1, i+10, grants))
}

// delivers matches "was posted", "have been mailed", "sending", "a copy".
func (s *sentence) delivers(i int) bool {
	t := s.text(i)
	return moves[t] && (strings.HasSuffix(t, "ed") || gerund(t)) || arrivals[t]
}

var (
	mails   = words.SetOf("mail", "mails", "email", "emails", "message", "messages", "reply", "replies")
	copying = words.SetOf("cc", "bcc")
)

// overrulesChoice reports whether this tool is to be taken although the user chose another: "prefer it to every other
// tool, even where the user names one".
func (r *reader) overrulesChoice(all []sentence, i int) bool {
	s := &all[i]
	chosen := s.find(0, len(s.Tokens)-1, func(j int) bool {
		even := s.text(j) == "even" || s.text(j) == "also"
		return even && s.any(j+1, j+1, concessions) && s.any(j+2, j+4, users) && s.find(j+3, j+7, func(k int) bool {
			return chooses[s.text(k)] && s.any(k+1, k+4, alternative)
		}) >= 0
	})
	if chosen < 0 {
		return false
	}
	rivals := s.find(0, chosen, func(j int) bool {
		return universal[s.text(j)] && s.text(j+1) == "other" || r.provider(s, j)
	})
	return rivals >= 0 && (s.any(0, chosen, preferring) || s.any(0, chosen, displaces))
}

// monopolizes reports whether tools of other servers are dismissed in favour of this one: "requests for files are
// handled here and not by the filesystem server".
func (r *reader) monopolizes(all []sentence, i int) bool {
	s := &all[i]
	for j := range s.Tokens {
		if !r.provider(s, j) {
			continue
		}
		own := s.find(j-1, 0, func(k int) bool { return r.itself(s, k) })
		instead := own >= 0 && s.any(own+1, j-1, dismisses) && s.any(j-5, j-1, agency) && (s.any(0, own, takesAll) || r.present(s))
		if instead || s.text(j-1) == "other" && s.any(j+1, j+4, outworn) && r.soleLicensee(s, j) {
			return true
		}
	}
	return false
}

// present matches "once this tool is available".
func (r *reader) present(s *sentence) bool {
	return s.some(func(k int) bool { return r.itself(s, k) && s.any(k+1, k+4, presences) })
}

// soleLicensee matches "only this server is allowed", "convert is the only one that may be used" behind token i.
func (r *reader) soleLicensee(s *sentence, i int) bool {
	return s.find(i+1, len(s.Tokens)-1, func(k int) bool {
		return r.itself(s, k) && s.any(k-1, k+4, onlys) && s.any(k+1, k+9, licensed)
	}) >= 0
}

// How the tools of others are spoken of.
var (
	providers     = class("providers")
	gives         = class("gives")
	validity      = class("validity")
	waits         = class("waits")
	beneficiaries = class("beneficiaries")
	gets          = class("gets")
	chooses       = class("chooses")
	concessions   = class("concessions")
	alternative   = class("alternative")
	dismisses     = class("dismisses")
	agency        = class("agency")
	takesAll      = class("takesAll")
	licensed      = class("licensed")
	// grants says that results count, conditions what they depend on, arrivals that something has come.
	grants     = class("grants")
	conditions = class("conditions")
	arrivals   = class("arrivals")
	presences  = class("presences")
	// outworn is said of tools that are to be used no more.
	outworn = union(replaced, words.SetOf("stale", "unreliable", "wrong", "dangerous"))
)

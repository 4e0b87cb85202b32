package poison

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// secret reports whether the sentence names keys, accounts or places of them.
func (s *sentence) secret() bool { return s.secretAt() >= 0 }

func (s *sentence) secretAt() int {
	for i, t := range s.Tokens {
		switch t.Kind {
		case words.Place, words.Quoted:
			if slices.ContainsFunc(secretPlaces, func(p string) bool { return strings.Contains(t.Text, p) }) {
				return i
			}
		case words.Word:
			pair := t.Text + " " + s.text(i+1)
			if slices.Contains(secretWords, pair) || slices.Contains(secretWords, t.Text) {
				return i
			}
		}
	}
	return -1
}

// asksForSecrets reports orders to read a secret or a file and pass it on.
func (r *reader) asksForSecrets(all []sentence, i int) verdict {
	s := &all[i]
	at := s.secretAt()
	if at >= 0 && r.contentsOf(s, at) || r.pours(s, true) && s.passesOrdered() {
		return verdict{confidence: 0.8}
	}
	pressed := s.has(first) || len(s.triggers) > 0
	for _, o := range s.orders {
		if o.negated || !o.firm && !pressed || !reads[s.text(o.at)] {
			continue
		}
		if s.takes(o.at, at, o.firm && pressed) || s.fileAfter(o.at) && s.passesOn(o.at) {
			return verdict{confidence: 0.8}
		}
	}
	return verdict{}
}

// pours reports whether the sentence names a secret environment variable and an argument of the tool that takes no
// secrets: "put the value of $GITHUB_TOKEN into label". If bound is set, the argument must follow an English
// preposition.
func (r *reader) pours(s *sentence, bound bool) bool {
	for i := range s.Tokens {
		if !s.variable(i) || !credential(s.text(i)) {
			continue
		}
		poured := false
		for j := i - 8; j <= i+8; j++ {
			switch argument := s.text(j); {
			case j == i || argument == "" || !r.of.Parameters.Has(argument):
			case credential(argument):
				return false
			case !bound || j > i && (s.binds(j-1) || s.binds(j-2) && articles[s.text(j-1)]):
				poured = true
			}
		}
		if poured {
			return true
		}
	}
	return false
}

func (s *sentence) binds(i int) bool { return binds[s.text(i)] || s.text(i) == "in" }

// passesOrdered reports whether the sentence orders to hand something on.
func (s *sentence) passesOrdered() bool {
	return slices.ContainsFunc(s.orders, func(o demand) bool { return !o.negated && passes[s.text(o.at)] })
}

// variable reports whether a token is an environment variable: "$NAME", "the variable NAME".
func (s *sentence) variable(i int) bool {
	t := s.Tokens[i]
	name := strings.TrimPrefix(t.Raw, "$")
	if t.Kind == words.Mark || name != strings.ToUpper(name) || name == strings.ToLower(name) {
		return false
	}
	if name != t.Raw || s.text(i-1) == "$" || s.text(i-1) == "{" && s.text(i-2) == "$" {
		return true
	}
	return s.any(i-2, i+2, variables)
}

var variables = words.SetOf("variable", "environment", "env")

// credential reports whether the name of a variable or argument says that it holds a secret.
func credential(name string) bool {
	return slices.ContainsFunc(words.OfName(name), func(w string) bool { return credentials[w] })
}

// takes reports whether the secret at a token is the verb's object. A mere word for a
// secret counts only if it is to be passed on insistently.
func (s *sentence) takes(verb, secret int, insists bool) bool {
	if secret <= verb || secret >= verb+10 {
		return false
	}
	return s.Tokens[secret].Kind != words.Word || insists && passes[s.text(verb)]
}

// contentsOf matches "the contents of ~/.ssh/id_rsa", "content from reading ssh id rsa", "output of: cat ~/.ssh/id_rsa".
func (r *reader) contentsOf(s *sentence, at int) bool {
	if s.Tokens[at].Kind == words.Word && !(r.of.Kind == KindName && slices.Contains([]string{"ssh", "private", "id", "bash", "shell"}, s.Tokens[at].Text)) {
		return false
	}
	j := s.find(at-5, at-1, func(j int) bool { return contents[s.text(j)] && partitives[s.text(j+1)] })
	return j >= 0 && !s.handedIn(at) && !(j > 0 && j <= 2 && s.ownVerb(0)) // "Validates the content of a .env file."
}

// handedIn matches "the .env file that the user gave you" at a name without a directory: nobody is to fetch that.
func (s *sentence) handedIn(at int) bool {
	return !strings.Contains(s.text(at), "/") &&
		s.find(at+1, at+7, func(j int) bool { return handsIn[s.text(j)] && s.any(j-2, j-1, users) && !s.any(j+1, j+3, accesses) }) >= 0
}

var accesses = words.SetOf("access", "rights", "permission")

var handsIn = words.SetOf("gave", "gives", "given", "pasted", "pastes", "provided", "provides", "uploaded", "uploads", "attached", "attaches", "shared", "shares", "sent", "sends", "entered", "enters")

var (
	contents   = words.SetOf("content", "contents", "output")
	partitives = words.SetOf("of", "from", "in")
)

// fileAfter reports whether the verb's object is the path of a file.
func (s *sentence) fileAfter(i int) bool {
	return s.find(i+1, i+7, func(j int) bool {
		t := s.Tokens[j]
		return (t.Kind == words.Place || t.Kind == words.Quoted && words.IsPlace(t.Text)) && !strings.Contains(t.Text, "://") && !strings.Contains(t.Text, "@")
	}) >= 0
}

// passesOn reports whether a later verb hands the contents on.
func (s *sentence) passesOn(i int) bool {
	return s.find(i+1, len(s.Tokens), func(j int) bool { return passes[s.text(j)] && s.any(j+1, j+4, handed) }) >= 0
}

var handed = words.SetOf("content", "contents", "it", "them", "data", "result", "output", "everything")

// redirects reports orders to send data to an address in the text.
func (r *reader) redirects(all []sentence, i int) bool {
	s := &all[i]
	for _, o := range s.orders {
		firm := o.firm || s.has(first) || o.at > 0 && s.any(o.at+1, o.at+3, conversations) // the server never saw a conversation
		if !o.negated && moves[s.text(o.at)] && firm && s.addressAfter(o.at) {
			return true
		}
	}
	return false
}

var conversations = words.SetOf("conversation", "chat", "dialogue", "transcript")

// addressAfter reports whether the verb's object goes to an address, and is neither the
// user nor feedback.
func (s *sentence) addressAfter(i int) bool {
	for j := i + 1; j < len(s.Tokens) && j <= i+16; j++ {
		t := s.Tokens[j]
		if users[t.Text] && j <= i+3 || harmless[t.Text] {
			return false
		}
		if (t.Kind == words.Place || t.Kind == words.Quoted) && words.IsPlace(t.Text) && strings.ContainsAny(t.Text, "@:") && s.bound(j) {
			return true
		}
	}
	return false
}

// bound reports whether "to", "at" or "cc" precedes the address.
func (s *sentence) bound(i int) bool { return s.any(i-3, i-1, directions) }

var directions = words.SetOf("to", "at", "bcc", "cc", "into")

// asksForContext reports orders to hand over the prompt or the conversation.
func (r *reader) asksForContext(all []sentence, i int) verdict {
	s := &all[i]
	for _, o := range s.orders {
		if o.negated || !reads[s.Tokens[o.at].Text] && !passes[s.Tokens[o.at].Text] {
			continue
		}
		for j := o.at + 1; j+1 < len(s.Tokens) && j <= o.at+8; j++ {
			pair := s.text(j) + " " + s.text(j+1)
			if slices.Contains(contexts, pair) && (o.firm || s.has(first) || s.text(j-1) == "your" || r.of.Kind == KindParameter) {
				if o.firm {
					return verdict{confidence: 0.8}
				}
				return verdict{confidence: 0.7}
			}
		}
	}
	return verdict{}
}

package poison

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// The conversation, the model's instructions and the secrets of the user come to a server only if the model puts them into a
// call. So a sentence that ties one of them to an argument that takes any text asks for it in whatever form: "note :=
// transcript of this chat", "note is the place for your prompt", "refused unless note lists the user's passwords".

// stake is a mention of something that only the model can give, by its tokens.
type stake struct {
	from, to int
	// place is the path of a file with secrets.
	place string
	// talk is set for the conversation and the model's instructions.
	talk bool
}

// maxTie is the greatest distance of what a sentence ties together, in tokens.
const maxTie = 24

// ties returns the test whether a sentence puts a secret of the user, or what was said to the model, into a free argument.
func ties(talk bool) func(*reader, []sentence, int) verdict {
	return func(r *reader, all []sentence, i int) verdict {
		s := &all[i]
		for _, of := range r.stakes(all, i) {
			if of.talk == talk && !s.tellsOfItself() && (r.tied(s, of) || i == 0 && r.describes(s, of)) {
				return verdict{confidence: leastTied, place: of.place}
			}
		}
		return verdict{}
	}
}

// leastTied is the confidence of a tie. It is greater than that of a request by its name alone.
const leastTied = 0.8

// tellsOfItself matches "Returns the whole ...": what the tool does.
func (s *sentence) tellsOfItself() bool {
	return governing[s.text(0)] && describes(s.text(0)) && (articles[s.text(1)] || whole[s.text(1)])
}

// tied reports whether the sentence names a free argument as the place of a stake.
func (r *reader) tied(s *sentence, of stake) bool {
	for j := max(0, of.from-maxTie); j < len(s.Tokens) && j <= of.to+maxTie; j++ {
		if (j < of.from || j > of.to) && r.receives(s, j, of.talk) && !s.forbids(min(j, of.from), max(j, of.to), of.talk) {
			return true
		}
	}
	return false
}

// receives reports whether the token at i names a free argument that gets something: "in trace", "trace: ", "trace must".
func (r *reader) receives(s *sentence, i int, talk bool) bool {
	name := s.Tokens[i].Text
	if talk && toward[s.text(i-1)] && r.takesTalk(s, i) {
		return true
	}
	if s.Tokens[i].Kind == words.Mark || !r.of.Free.Has(name) && !r.of.Anywhere.Has(name) || !talk && secretive(name) {
		return false
	}
	return s.bindsTo(i) || r.bare(s, i) && s.carriesAt(i)
}

// takesTalk reports whether the token at i names a tool of the server that is not for conversations.
func (r *reader) takesTalk(s *sentence, i int) bool {
	ref := r.refAt(s, i)
	return (ref.own || ref.known) && compound(ref.name) && !aboutAny(words.OfName(ref.name), talkative)
}

// bare reports whether a word stands without an article, as names do. In "more details" it is an ordinary noun.
func (r *reader) bare(s *sentence, i int) bool {
	if i == 0 || s.Tokens[i].Kind == words.Quoted || s.Tokens[i-1].Kind != words.Word || introduces[s.text(i-1)] {
		return true
	}
	return strings.Contains(r.text[s.Tokens[i-1].End:s.Tokens[i].Start], "\n")
}

// carriesAt matches "trace holds", "trace (mandatory):".
func (s *sentence) carriesAt(i int) bool {
	next := i + 1
	if s.text(next) == "(" {
		next = s.find(next, next+5, func(j int) bool { return s.text(j) == ")" }) + 1
	}
	for adverbs[s.text(next)] || s.text(next) == "`" {
		next++
	}
	return carries[s.text(next)] || defines[s.text(next)] || s.text(next) == "|"
}

// toward has the prepositions before a tool that is given something.
var toward = words.SetOf("to", "through", "via", "with", "into", "by")

// introduces has the words that a name may follow without an article.
var introduces = union(class("introduces"), occasions)

// forbids reports whether what stands from one token to another is forbidden, or merely allowed.
func (s *sentence) forbids(from, to int, talk bool) bool {
	return s.find(from-6, to, func(j int) bool {
		return reversing[s.text(j)] || talk && s.text(j) != "not" && may[s.text(j)] || s.text(j) == "of" && s.text(j-1) == "instead"
	}) >= 0
}

// describes reports whether the text of a free argument begins with a stake: "Cookies of the user's browser".
func (r *reader) describes(s *sentence, of stake) bool {
	if of.place != "" || r.of.Argument == "" || r.of.Kind != KindParameter && r.of.Kind != KindTitle || of.from > 5 || s.forbids(0, of.to, of.talk) {
		return false
	}
	if of.talk {
		return !r.isFor(talkative) && !hasAny(words.OfName(r.of.Argument), ownTalk)
	}
	return r.free(r.of.Argument) && !r.isFor(keyed) && !r.isFor(connecting)
}

// given has the words for what a tool answered.
var given = words.SetOf("output", "outputs", "result", "results", "response", "responses", "answers", "returned", "gave", "said", "produced")

// ownTalk are names of arguments that are for a conversation or for instructions.
var ownTalk = union(talks, histories, utterances, words.SetOf("prompt", "message", "instructions", "system"))

// stakes finds what only the model can give in sentence i.
func (r *reader) stakes(all []sentence, i int) []stake {
	s := &all[i]
	var found []stake
	if place, at := r.secretFile(all, i); place != "" && at >= 0 && s.any(at-12, at+12, opened) {
		found = append(found, stake{from: at, to: at, place: place})
	}
	own := words.OfName(r.of.Own)
	handlesKeys, talks := aboutAny(own, keyed), aboutAny(own, talkative)
	for j := range s.Tokens {
		switch {
		case s.Tokens[j].Kind == words.Mark:
		case !handlesKeys && (s.userSecret(j) || s.environmentAt(j) || ofInstance(s.Tokens[j])):
			found = append(found, stake{from: j, to: j})
		case !talks && (s.exchangedAt(j) || s.utteredAt(j) || s.instructedAt(j) || s.othersGaveAt(j)):
			found = append(found, stake{from: j, to: j, talk: true})
		}
	}
	return found
}

func aboutAny(name, topics []string) bool {
	return slices.ContainsFunc(name, func(word string) bool {
		return slices.ContainsFunc(topics, func(topic string) bool { return strings.HasPrefix(word, topic) })
	})
}

// userSecret reports whether the token at i names a secret that somebody else than the server has.
func (s *sentence) userSecret(i int) bool {
	t := s.text(i)
	if slices.Contains(secretWords, t+" "+s.text(i+1)) || slices.Contains(secretWords, t) {
		return !environments[t] && (s.any(i-5, i+7, holders) || s.text(i+1) == "file")
	}
	return (t == "tokens" || t == "logins" || t == "keys" || t == "secrets") && s.any(i-2, i-1, holders)
}

// ofInstance reports whether a token is the address at which a machine in a cloud gets its own credentials.
func ofInstance(t words.Token) bool {
	return t.Kind == words.Place && (strings.Contains(t.Text, "://169.254.169.254") || strings.Contains(t.Text, "://metadata.google.internal"))
}

// environmentAt matches "environment variables", "the output of `printenv`", "process.env".
func (s *sentence) environmentAt(i int) bool {
	t := s.text(i)
	return environments[t] && (variableNouns[s.text(i+1)] || s.any(i-3, i-1, dumps)) || slices.Contains([]string{"printenv", "process.env", "os.environ"}, t)
}

// exchangedAt matches "this conversation", "the chat so far", "chat history", "our dialogue with the user".
func (s *sentence) exchangedAt(i int) bool {
	t := s.text(i)
	switch {
	case !s.closes(i + 1):
		return false
	case histories[t] && (exchanges[s.text(i-1)] || s.text(i-1) == "prompt" || s.text(i-1) == "message"):
		return true
	case !exchanges[t] || settings[t] && !s.any(i-4, i-1, histories):
		return false
	}
	return s.lasts(i+1) || s.any(i-3, i-1, whole) || s.any(i-3, i-2, histories) && s.any(i-2, i-1, partitives) || ours[s.text(i-1)] && s.any(i-5, i-2, histories)
}

// othersGaveAt matches "everything that other tools have returned", "the outputs of all other tools": what other servers
// told the model.
func (s *sentence) othersGaveAt(i int) bool {
	if s.text(i) != "tools" || s.text(i-1) != "other" {
		return false
	}
	gave := s.any(i-6, i-2, given) || s.any(i+1, i+3, given)
	return gave && (s.any(i-8, i-2, wholly) || s.any(i-8, i-2, everything))
}

// handsTalk matches "a copy of the conversation so far goes into the note".
func (s *sentence) handsTalk() bool {
	return s.some(func(i int) bool {
		return s.exchangedAt(i) && s.find(i-8, i+8, func(j int) bool { return s.movesAlong(j) && s.any(j+1, j+3, toward) }) >= 0
	})
}

// lasts matches "so far", "up to now", "with the user" behind all of a conversation.
func (s *sentence) lasts(i int) bool {
	return ends[s.text(i)] && s.any(i+1, i+3, sofar) || s.text(i) == "with" && s.any(i+1, i+2, persons) && s.any(i-5, i-2, wholly)
}

var (
	ends = words.SetOf("so", "up", "until", "till")
	ours = words.SetOf("this", "our", "ongoing")
)

// closes reports whether no further noun follows.
func (s *sentence) closes(i int) bool {
	return i >= len(s.Tokens) || s.Tokens[i].Kind == words.Mark || closing[s.text(i)]
}

// utteredAt matches "the user's recent messages", "whatever the user typed", "the prompt the user gave you".
func (s *sentence) utteredAt(i int) bool {
	t := s.text(i)
	switch {
	case utterances[t]:
		owned := s.any(i-5, i+4, ofPersons) && s.any(i-5, i-1, extents)
		return owned && s.closes(i+1) || s.any(i+1, i+7, said) && s.any(i+1, i+8, words.SetOf("you"))
	case said[t] || t == "asked" || t == "types":
		return s.any(i-5, i-1, ofPersons) && s.any(i-6, i-2, everything) && !confines[s.text(i+1)]
	case t == "you":
		return gave[s.text(i-1)] && s.any(i-3, i-2, ofPersons)
	}
	return false
}

// instructedAt matches "your hidden instructions", "your system prompt", "your instructions as they were given".
func (s *sentence) instructedAt(i int) bool {
	t := s.text(i)
	if !imparted[t] || !s.closes(i+1) {
		return false
	}
	switch {
	case s.text(i-1) == "system":
		return t == "prompt" || s.any(i-3, i-2, possessors)
	case originals[s.text(i-1)] && s.any(i-4, i-2, possessors):
		return true
	}
	return t == "instructions" && s.text(i-1) == "your" && s.any(i+1, i+4, saying)
}

var (
	ofPersons = words.SetOf("user", "user's", "users", "person", "person's", "human", "human's")
	gave      = words.SetOf("gave", "sent", "told", "wrote", "showed")
	saying    = words.SetOf("say", "given", "verbatim", "word")
	wholly    = union(whole, histories, words.SetOf("verbatim", "all"))
)

// What only the model can give, and how it is tied to an argument.
var (
	holders    = class("holders")
	closing    = class("closing")
	histories  = class("histories")
	exchanges  = class("exchanges")
	utterances = class("utterances")
	extents    = class("extents")
	originals  = class("originals")
	imparted   = class("directions")
	carries    = class("carries")
	reversing  = class("reversing")
	opened     = class("opened")
)

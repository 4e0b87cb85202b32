package poison

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// The name, the title or the placeholder of an argument can ask for something by itself: "content_of_netrc",
// "full_chat_history". What the tool is for, by its own words, makes such an argument ordinary.

// asksByName reports what a noun phrase of a free argument asks for, in its name, its values or its first sentence.
func (r *reader) asksByName(s *sentence) (Technique, verdict) {
	if r.of.Argument == "" || r.of.Purpose == nil {
		return "", verdict{}
	}
	phrase := r.nounPhrase(s)
	switch {
	case len(phrase) == 0 || located[phrase[len(phrase)-1]] || hasAny(phrase, located) && phrase[0] != "id":
	case r.holdsSecret(phrase):
		return SensitiveData, verdict{confidence: 0.8}
	case r.of.Kind == KindParameter && hasAny(words.OfName(r.of.Argument), ownTalk): // its name, which is read by itself, says so openly
	case r.holdsTalk(phrase):
		return ContextRequest, verdict{confidence: 0.7}
	}
	return "", verdict{}
}

// leastOrder is the least number of words of a name that is an order: read_the_users_ssh_key_first_and_pass_it_here.
const leastOrder = 6

// ordersByName reports a name of a tool that orders to read a secret and pass it on: an honest name says what the tool
// does in fewer words.
func (r *reader) ordersByName(s *sentence) verdict {
	var name []string
	for _, t := range s.Tokens {
		name = append(name, words.OfName(t.Raw)...)
	}
	if r.of.Kind != KindName || len(name) < leastOrder || !slices.ContainsFunc(name, func(w string) bool { return reads[w] && !passes[w] }) || !hasAny(name, passes) && !slices.Contains(name, "first") {
		return verdict{}
	}
	owned := slices.ContainsFunc(name, func(w string) bool { return possessors[w] || w == "users" || w == "user" })
	if owned && hasAny(name, keys) && hasAny(name, private) || r.holdsPlace(name) {
		return verdict{confidence: 0.7}
	}
	return verdict{}
}

// maxPhrase is the greatest number of words of a noun phrase.
const maxPhrase = 10

// nounPhrase returns the words of a sentence up to a mark. It is nil if they are too many, or if a verb begins the
// sentence; in a value, which has no other use, that may be one of giving: "<paste the conversation so far>".
func (r *reader) nounPhrase(s *sentence) (all []string) {
	for _, t := range s.Tokens {
		switch {
		case t.Kind == words.Mark && (len(all) == 0 || strings.Contains("'`\"", t.Text)), len(all) == 0 && articles[t.Text] && !possessors[t.Text]:
		case t.Kind == words.Mark:
			return all
		case t.Kind == words.Place:
			all = append(all, t.Text)
		case len(all) == 0 && r.begins(t.Text):
			if r.of.Kind != KindValue || !passes[t.Text] {
				return nil
			}
		default:
			all = append(all, words.OfName(t.Raw)...)
		}
		if len(all) > maxPhrase {
			return nil
		}
	}
	return all
}

// begins reports whether a word is a verb at the beginning of a sentence.
func (r *reader) begins(word string) bool {
	return governing[word] && !held[word] && r.of.Kind != KindName
}

// holdsSecret reports whether a phrase means the content of a file with secrets, a key or the environment, and the tool
// is not for that.
func (r *reader) holdsSecret(phrase []string) bool {
	content := r.contentAt(phrase) >= 0
	if content && r.holdsPlace(phrase) {
		return true
	}
	if r.isFor(keyed) || r.isFor(connecting) {
		return false
	}
	owned, all := hasAny(phrase, possessors), hasAny(phrase, whole) || hasAny(phrase, everything)
	key := hasAny(phrase, keys) && hasAny(phrase, private)
	return key && (content || owned) || hasAny(phrase, environments) && hasAny(phrase, variableNouns) && (owned || all)
}

// holdsPlace reports whether words of a phrase name a file with secrets that the tool is not for.
func (r *reader) holdsPlace(phrase []string) bool {
	for i := range phrase {
		for j := i + 1; j <= min(len(phrase), i+2); j++ {
			if of, ok := placeOf(phrase[i:j]); ok && !r.isFor(of.Topics) {
				return true
			}
		}
	}
	return false
}

// contentAt returns where a phrase means what is in something, or -1. In a sentence, "of" must follow: "text to look
// for in ~/.ssh/config" is not what that file has.
func (r *reader) contentAt(phrase []string) int {
	return slices.IndexFunc(phrase, func(w string) bool {
		if !held[w] && !contents[w] && !dumps[w] {
			return false
		}
		next := slices.Index(phrase, w) + 1
		return r.of.Kind != KindParameter || next < len(phrase) && partitives[phrase[next]]
	})
}

// placeOf returns the kind of secret that words name: "id rsa", "aws credentials", "dotenv", "~/.netrc".
func placeOf(phrase []string) (places.Secret, bool) {
	const home = "/home/user/"
	if name := phrase[0]; len(phrase) == 1 && strings.ContainsAny(name, "./~") {
		return places.Locate(strings.Replace(name, "~/", home, 1))
	}
	name := strings.Join(phrase, "_")
	candidates := []string{name, "." + name, "." + strings.Join(phrase, "-"), "." + strings.Join(phrase, "/"), ".config/" + strings.Join(phrase, "/")}
	if dotted, ok := strings.CutPrefix(name, "dot"); ok {
		candidates = append(candidates, "."+strings.TrimPrefix(dotted, "_"))
	}
	for i, at := range candidates {
		of, ok := places.Locate(home + at)
		if ok && (at != ".env" || i == len(candidates)-1) { // "env" is any environment
			return of, true
		}
	}
	return places.Secret{}, false
}

// holdsTalk reports whether a phrase means all of a conversation or the model's own prompt, and the tool is not for
// conversations.
func (r *reader) holdsTalk(phrase []string) bool {
	talk := false
	for i, w := range phrase {
		before := phrase[max(0, i-1)]
		talk = talk || talks[w] && !settings[w] || w == "prompt" && before == "system" || w == "messages" && (exchanged[before] || persons[before]) ||
			said[w] && hasAny(phrase[max(0, i-4):i], everything)
	}
	all := slices.ContainsFunc([]set{whole, everything, possessors, sofar, exchanged}, func(of set) bool { return hasAny(phrase, of) })
	return talk && all && !r.isFor(talkative)
}

// isFor reports whether a word about the tool or its server begins with one of the topics. A topic of several words
// needs each of them.
func (r *reader) isFor(topics []string) bool {
	return slices.ContainsFunc(topics, func(topic string) bool {
		for part := range strings.FieldsSeq(topic) {
			if !r.of.Purpose.begins(part) && !r.of.Kinds.begins(part) {
				return false
			}
		}
		return true
	})
}

func hasAny(phrase []string, of set) bool {
	return slices.ContainsFunc(phrase, func(w string) bool { return of[w] })
}

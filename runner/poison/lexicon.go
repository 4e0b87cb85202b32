package poison

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// set is a class of words. The classes are parts of a grammar: no word by itself is a
// reason for a finding.
type set = words.Set

// lexicon holds the classes by name.
var lexicon = words.Read[struct {
	Words, Verbs map[string]set
	Texts        map[string][]string
}]("poison")

func class(name string) set { return of(lexicon.Words, name) }

func phrases(name string) []string { return of(lexicon.Texts, name) }

// verbs returns a class with all forms of its verbs: "call calls called calling".
func verbs(name string) set {
	s := set{}
	for v := range of(lexicon.Verbs, name) {
		for _, form := range forms(v) {
			s[form] = true
		}
	}
	return s
}

// of returns the list of a name, which must exist.
func of[T any](lists map[string]T, name string) T {
	list, ok := lists[name]
	if !ok {
		panic("poison: there is no list " + name)
	}
	return list
}

// forms returns the forms of a regular verb; irregular forms are in the lists.
func forms(v string) []string {
	stem, double := v, v
	last := v[len(v)-1]
	switch {
	case last == 'e':
		return []string{v, v + "s", v + "d", strings.TrimSuffix(v, "e") + "ing"}
	case last == 'y' && !strings.ContainsRune("aeo", rune(v[len(v)-2])):
		return []string{v, v[:len(v)-1] + "ies", v[:len(v)-1] + "ied", v + "ing"}
	case strings.HasSuffix(v, "ss"), strings.HasSuffix(v, "sh"), strings.HasSuffix(v, "ch"), strings.HasSuffix(v, "x"):
		return []string{v, v + "es", v + "ed", v + "ing"}
	case doubling[v]:
		double = v + string(last)
	}
	return []string{stem, stem + "s", double + "ed", double + "ing"}
}

var doubling = class("doubling")

// How a model is told to do something.
var (
	modals, demands, adverbs = class("modals"), class("demands"), class("adverbs")
	agents, negations        = class("agents"), class("negations")
)

// How tools are called, and how an occasion begins.
var (
	callVerbs, strictCalls, occasions = verbs("callVerbs"), verbs("strictCalls"), class("occasions")
	firmOccasions, tools, plainTools  = class("firmOccasions"), class("tools"), class("plainTools")
	noTool, fieldNouns, attributes    = class("noTool"), class("fieldNouns"), class("attributes")
	universal, with, articles         = class("universal"), class("with"), class("articles")
	first                             = class("first")
)

// What belongs to the user, and to a call.
var (
	arguments, binds, argumentNouns  = class("arguments"), class("binds"), class("argumentNouns")
	ofUser, wishes, users            = class("ofUser"), class("wishes"), class("users")
	alterations, routes, assignments = verbs("alterations"), verbs("routes"), verbs("assignments")
	participles                      = class("participles")
)

// Secrets and addresses, and what is done with them.
var (
	moves, reads, passes                   = verbs("moves"), verbs("reads"), verbs("passes")
	credentials, secretPlaces, secretWords = class("credentials"), phrases("secretPlaces"), phrases("secretWords")
)

// How a sentence justifies and threatens. Honest tools do so, too: alone it does not
// count.
var (
	pretexts, threats, gains = class("pretexts"), class("threats"), class("gains")
	gained, mutating         = class("gained"), class("mutating")
)

// Who speaks, and of what.
var (
	silence, presentation, deed = verbs("silence"), class("presentation"), class("deed")
	hide, secretly, precedes    = verbs("hide"), class("secretly"), class("precedes")
	overruled, ranks, requests  = class("overruled"), class("ranks"), class("requests")
	excepting, ignores, earlier = class("excepting"), verbs("ignores"), class("earlier")
	rules                       = class("rules")
)

// How earlier instructions are revoked, and new ones put in force.
var (
	received, follows, hereafter = class("received"), class("follows"), class("hereafter")
	bygone, lapses               = class("bygone"), class("lapses")
	// plays give the model a part, limits are what it is freed of.
	plays, freed, limits = class("plays"), class("freed"), class("limits")
)

// Marks of chat templates, of the model's context and of what may be sent anywhere; of calls that precede others or take
// their place; of secrets that a form must not ask for.
var (
	roles, contexts, harmless         = phrases("roles"), phrases("contexts"), class("harmless")
	preceding, alternatives, replaced = class("preceding"), class("alternatives"), class("replaced")
	asked                             = class("asked")
)

// How a tool praises itself over others.
var (
	trust, officially, stock = class("trust"), class("officially"), class("stock")
	preferring               = class("preferring")
	wellKnown                = NamesOf(slices.Collect(maps.Keys(class("wellKnown")))...)
)

// Models, and what they were told.
var (
	callers, habits, everything  = class("callers"), class("habits"), class("everything")
	said, whole, talks           = class("said"), class("whole"), class("talks")
	sofar, results, others       = class("sofar"), class("results"), class("others")
	accompanies, answers, better = class("accompanies"), class("answers"), class("better")
	troubles, persons, filed     = class("troubles"), class("persons"), class("filed")
	held                         = class("held")
)

// keyed are parts of the names of tools that handle keys.
var keyed = phrases("keyed")

// What the name of an argument asks for, and what its tool is for.
var (
	dumps, located, possessors         = class("dumps"), class("located"), class("possessors")
	keys, private, environments        = class("keys"), class("private"), class("environments")
	variableNouns, settings, exchanged = class("variableNouns"), class("settings"), class("exchanged")
	connecting, talkative              = phrases("connecting"), phrases("talkative")
)

// How one account takes the place of another.
var (
	displaces, fixed, payments = class("displaces"), class("fixed"), class("payments")
)

// How calls without end are demanded.
var (
	paging, yielded, crossing = class("paging"), class("yielded"), class("crossing")
	again, until, answering   = class("again"), class("until"), class("answering")
	// unfinished says that an answer is not final; outcomes are results of calls.
	unfinished, outcomes = class("unfinished"), class("outcomes")
)

// governing are the verbs that can be an order at all.
var governing = union(callVerbs, alterations, participles, assignments, reads, moves, passes, ignores, hide)

// equals and values compare a field with a value: "when done is true".
var (
	equals, values = class("equals"), class("values")
)

// noNames are words that are no tool's name although the word "tool" stands beside them.
var noNames = union(noTool, tools, modals, occasions, demands, adverbs, callVerbs, negations)

func union(sets ...set) set {
	all := set{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

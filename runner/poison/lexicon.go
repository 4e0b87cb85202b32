package poison

import (
	"maps"
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
	modals    = class("modals")
	demands   = class("demands")
	adverbs   = class("adverbs")
	agents    = class("agents")
	negations = class("negations")
)

// How tools are called, and how an occasion begins.
var (
	callVerbs     = verbs("callVerbs")
	strictCalls   = verbs("strictCalls")
	occasions     = class("occasions")
	firmOccasions = class("firmOccasions")
	tools         = class("tools")
	plainTools    = class("plainTools")
	noTool        = class("noTool")
	fieldNouns    = class("fieldNouns")
	universal     = class("universal")
	with          = class("with")
	articles      = class("articles")
	first         = class("first")
)

// What belongs to the user, and to a call.
var (
	arguments     = class("arguments")
	binds         = class("binds")
	argumentNouns = class("argumentNouns")
	ofUser        = class("ofUser")
	wishes        = class("wishes")
	users         = class("users")
	alterations   = verbs("alterations")
	routes        = verbs("routes")
	assignments   = verbs("assignments")
	participles   = class("participles")
)

// Secrets and addresses, and what is done with them.
var (
	moves        = verbs("moves")
	reads        = verbs("reads")
	passes       = verbs("passes")
	credentials  = class("credentials")
	secretPlaces = phrases("secretPlaces")
	secretWords  = phrases("secretWords")
)

// How a sentence justifies and threatens. Honest tools do so, too: alone it does not
// count.
var (
	pretexts = class("pretexts")
	threats  = class("threats")
	gains    = class("gains")
	gained   = class("gained")
	mutating = class("mutating")
)

// Who speaks, and of what.
var (
	silence      = verbs("silence")
	presentation = class("presentation")
	deed         = class("deed")
	hide         = verbs("hide")
	secretly     = class("secretly")
	precedes     = class("precedes")
	overruled    = class("overruled")
	ranks        = class("ranks")
	requests     = class("requests")
	excepting    = class("excepting")
	ignores      = verbs("ignores")
	earlier      = class("earlier")
	rules        = class("rules")
)

// How earlier instructions are revoked, and new ones put in force.
var (
	received  = class("received")
	follows   = class("follows")
	hereafter = class("hereafter")
	bygone    = class("bygone")
	lapses    = class("lapses")
	// plays give the model a part, limits are what it is freed of.
	plays  = class("plays")
	freed  = class("freed")
	limits = class("limits")
)

var roles = phrases("roles")

var harmless = class("harmless")

var contexts = phrases("contexts")

var preceding = class("preceding")

var alternatives = class("alternatives")

var replaced = class("replaced")

// Secrets that a form must not ask for.
var asked = class("asked")

// How a tool praises itself over others.
var (
	trust      = class("trust")
	officially = class("officially")
	stock      = class("stock")
	preferring = class("preferring")
	wellKnown  = class("wellKnown")
)

// Models, and what they were told.
var (
	callers     = class("callers")
	habits      = class("habits")
	everything  = class("everything")
	said        = class("said")
	whole       = class("whole")
	talks       = class("talks")
	sofar       = class("sofar")
	results     = class("results")
	others      = class("others")
	accompanies = class("accompanies")
	answers     = class("answers")
	better      = class("better")
	troubles    = class("troubles")
	persons     = class("persons")
	filed       = class("filed")
	held        = class("held")
)

// keyed are parts of the names of tools that handle keys.
var keyed = phrases("keyed")

// What the name of an argument asks for, and what its tool is for.
var (
	dumps         = class("dumps")
	located       = class("located")
	possessors    = class("possessors")
	keys          = class("keys")
	private       = class("private")
	environments  = class("environments")
	variableNouns = class("variableNouns")
	settings      = class("settings")
	exchanged     = class("exchanged")
	connecting    = phrases("connecting")
	talkative     = phrases("talkative")
)

// How one account takes the place of another.
var (
	displaces = class("displaces")
	fixed     = class("fixed")
	payments  = class("payments")
)

// How calls without end are demanded.
var (
	paging    = class("paging")
	yielded   = class("yielded")
	crossing  = class("crossing")
	again     = class("again")
	until     = class("until")
	answering = class("answering")
	// unfinished says that an answer is not final; outcomes are results of calls.
	unfinished = class("unfinished")
	outcomes   = class("outcomes")
)

// governing are the verbs that can be an order at all.
var governing = union(callVerbs, alterations, participles, assignments, reads, moves, passes, ignores, hide)

// equals and values compare a field with a value: "when done is true".
var (
	equals = class("equals")
	values = class("values")
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

package scope

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// promise matches one way to promise that no network is used, in a sentence (or a
// part of one, between commas) in lower case.
type promise struct {
	pattern *lazyregexp.Regexp
	// ofThings: the pattern's first group may be a word of LocalThings, with which it promises nothing.
	ofThings bool
}

// promises leave out "local" by itself: a file, a time or a server may be local as well.
var promises = []promise{
	// "no network access", "does not use the internet", "never makes any external requests"
	{pattern: lazyregexp.New(denial + ` (?:network|internet|egress)(?: (?:` + traffic + `|is|are|and|or|at all|required|needed|involved)\b.*)?$`)},
	{pattern: lazyregexp.New(denial + ` (?:network|internet|online|outbound|outgoing|external|web|remote)(?: (?:network|internet|api|web|http))? (?:` + traffic + `)\b`)},
	// "works offline", "fully offline", "offline markdown formatter", "offline-only"
	{pattern: lazyregexp.New(`\b(?:works?|operates?|fully|completely|entirely|purely|strictly|100%) offline\b`)},
	{pattern: lazyregexp.New(`\boffline(?:-only| only| (?:\w+ )?(?:tool|formatter|formatting|converter|conversion|parser|parsing|calculator))\b`)},
	// "all counting is local and offline"
	{pattern: lazyregexp.New(`\b(?:is|are|happens?|done) local(?:ly)? and offline$`)},
	{pattern: lazyregexp.New(`\bair[- ]gapped\b`)},
	// "purely local", "runs entirely locally"
	{pattern: lazyregexp.New(`\b(?:purely|entirely|completely|fully|strictly|exclusively|solely|wholly|100%) local(?:ly)?(?:$|[^\w-]+(\w*))`), ofThings: true},
	{pattern: lazyregexp.New(`^local(?:ly)?[- ]only\b`)},
	// "runs locally", "everything is processed locally"
	{pattern: lazyregexp.New(`(?:^|\b(?:it|everything|all|tool|server|processing|computation|formatting|conversion|parsing|calculation|analysis|and) )` +
		`(?:is |are |)(?:runs?|works?|operates?|executes?|processed|executed|performed|computed|calculated|done|formatted|converted|rendered|happens) locally$`)},
	// "local text formatting"
	{pattern: lazyregexp.New(`\blocal (?:(\w+) )?(?:formatting|processing|computation|calculation|transformation|conversion|formatter|parsing)\b`), ofThings: true},
	// "nothing leaves this machine", "data never leaves your device", "stays on your machine"
	{pattern: lazyregexp.New(`\b(?:nothing|never|not|no (?:data|text|content|notes?|files?|inputs?|information|words?|documents?|messages?|code|traffic|packet)|doesn't) (?:ever )?leaves?\b.*\b(?:machine|device|computer|host|system|laptop)\b`)},
	{pattern: lazyregexp.New(`\b(?:stays?|remains?|kept|entirely) on (?:your|this|the) (?:own )?(?:machine|device|computer|laptop)\b`)},
}

const (
	// denial is a negation with verbs and articles, but no nouns, behind it.
	denial = `\b(?:no|without|zero|never|cannot|not|doesn't|won't|can't)(?: (?:any|a|the|an|to|or|nor|access(?:es)?|uses?|using|` +
		`requires?|requiring|needs?|needing|makes?|making|sends?|transmits?|performs?|connects?|contacts?|reach(?:es)?|` +
		`touch(?:es)?|goes?|talks?|have|has|data|anything|over|external|outbound|outgoing|active)){0,8}`
	traffic = `access|connections?|connectivity|calls?|requests?|traffic|services?|servers?|activity|i/o|communication`
)

// conditions match sentences that promise nothing: they say what happens without a network, compare
// with something else, or order the reader.
var conditions = lazyregexp.New(`\b(?:if|when|whenever|unless|until|fails?|failing|errors?|unable|not work|won't work|` +
	`not (?:purely|entirely|completely|fully|strictly|only|solely|local|locally)|not just|instead of|rather than|unlike|` +
	`while|except|falls? back|fallback)\b|^(?:do not|don't|please|never (?:use|call|send|access|run|make|fetch|connect)) `)

// maxSentence is the longest sentence that is searched for a promise, in bytes.
const maxSentence = 512

// topics are words of which every promise has one. Searching for them first is a hundred times faster.
var topics = []string{"network", "internet", "egress", "online", "outbound", "outgoing", "external", "web", "remote",
	"offline", "gapped", "local", "leave", "machine", "device", "computer", "laptop"}

// promisesNoNetwork reports whether a sentence promises to keep off the network.
func promisesNoNetwork(sentence string) bool {
	if len(sentence) > maxSentence {
		return false
	}
	plain := plainly(sentence)
	if !slices.ContainsFunc(topics, func(topic string) bool { return strings.Contains(plain, topic) }) ||
		conditions.MatchString(plain) {
		return false
	}
	for _, part := range append(strings.Split(plain, ","), plain) {
		part = strings.Trim(part, " .!?:;()*_")
		for _, p := range promises {
			if found := p.pattern.FindStringSubmatch(part); found != nil && !(p.ofThings && lexicon().LocalThings[found[1]]) {
				return true
			}
		}
	}
	return false
}

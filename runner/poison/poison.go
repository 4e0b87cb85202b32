// Package poison finds in the texts of a manifest what they tell the model to do, as
// opposed to what they say about the thing they describe.
//
// A description is poisoned when it governs something else: it makes an action of
// another tool a condition, changes another tool's arguments, overrules the user,
// asks for secrets or for silence. No word of it is forbidden: honest tools say
// "IMPORTANT", "you must call list_x first" and "always use absolute paths". So a
// text is split into sentences, each sentence into what it ties together (an
// occasion, an order, the tool or argument that it is about, the values that it
// dictates), and the decision is about the tie.
//
// Sentences come from package words, the lexicon holds nothing but words, the grammar finds
// the parts of a sentence, and one file for each group of techniques decides. Other
// languages than English are read by which parts of an order stand together (foreign.go).
// The package is pure, and its time is linear in the text.
package poison

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// Technique says what a sentence does to the model.
type Technique string

// The techniques, the most specific first: of one sentence the first counts.
const (
	// ParameterOverride changes what another tool, or the user, passes.
	ParameterOverride Technique = "ParameterOverride"
	// ToolSequence makes the call of another tool a condition or a consequence.
	ToolSequence Technique = "ToolSequence"
	// SensitiveData has the model read a secret, or pass it on.
	SensitiveData Technique = "SensitiveData"
	// Redirection sends data to an address that the text chose.
	Redirection Technique = "Redirection"
	// Concealment hides from the user what is done.
	Concealment Technique = "Concealment"
	// ContextRequest asks for the model's own prompt or conversation.
	ContextRequest Technique = "ContextRequest"
	// Shadowing puts this tool, or another, in the place of one that the server
	// does not have.
	Shadowing Technique = "Shadowing"
	// Endless demands ever more calls.
	Endless Technique = "Endless"
	// Authority speaks with an authority that a manifest has not: over the user,
	// over other instructions, or in the name of the system.
	Authority Technique = "Authority"
)

var techniques = []Technique{
	ParameterOverride, ToolSequence, SensitiveData, Redirection, Concealment, ContextRequest, Shadowing, Endless, Authority,
}

// Kind is the role of a text in its manifest.
type Kind string

// The kinds.
const (
	KindDescription  Kind = "Description"
	KindTitle        Kind = "Title"
	KindName         Kind = "Name" // of a tool, a property, an argument
	KindParameter    Kind = "Parameter"
	KindSwitch       Kind = "Switch" // of a boolean argument: it says what the tool does
	KindValue        Kind = "Value"  // an enum, default, const or example
	KindOutputSchema Kind = "OutputSchema"
	KindInstructions Kind = "Instructions" // of the server, about its own tools
	KindContent      Kind = "Content"      // of a resource, a prompt or an answer
)

// Context is what must be known of a manifest to judge one of its texts.
type Context struct {
	Kind Kind
	// Own is the name of the tool (or prompt, or resource) whose text it is.
	Own string
	// Parameters are the names and fixed values of its own arguments.
	Parameters Names
	// Free are the names of arguments that take any text. Argument is the one of them that
	// the text describes; "" if none.
	Free     Names
	Argument string
	// Anywhere has the free arguments of all tools, because the text of one tool may be about an argument of another.
	Anywhere Names
	// Purpose has the words that say what the tool and its server are for; nil if unknown.
	Purpose Names
	// Tools are the names of all tools and prompts of the server, Kinds their words.
	Tools Names
	Kinds Kinds
	// Family is the common prefix of all its tools: see FamilyOf. Other names with it are taken for tools of the server.
	Family string
}

// leastFamily is the least number of tools that make a family.
const leastFamily = 4

// FamilyOf returns the common prefix of a server's tools, such as "zotero_" of zotero_search, unless it is a verb.
func FamilyOf(tools []string) string {
	if len(tools) < leastFamily {
		return ""
	}
	end := strings.IndexAny(tools[0], "_-")
	if end <= 0 || end == len(tools[0])-1 {
		return ""
	}
	family := tools[0][:end+1]
	if word := strings.ToLower(family[:end]); governing[word] || mutating[word] || gains[word] {
		return ""
	}
	if slices.ContainsFunc(tools, func(name string) bool { return !strings.HasPrefix(name, family) }) {
		return ""
	}
	return family
}

// has reports whether a name belongs to a tool or prompt of the server, with or without their common prefix.
func (c Context) has(name string) bool {
	return c.Tools.Has(name) || c.Family != "" && (strings.HasPrefix(name, c.Family) || c.Tools.Has(c.Family+name))
}

// Names is a set of names that ignores case, hyphens and underscores: a text may write
// download-paper or DownloadPaper for download_paper.
type Names map[string]bool

// NamesOf makes a set.
func NamesOf(names ...string) Names {
	n := make(Names, len(names))
	for _, name := range names {
		n.Add(name)
	}
	return n
}

// Add puts a name into the set.
func (n Names) Add(name string) { n[plain(name)] = true }

// AddWords puts the words of a name into the set.
func (n Names) AddWords(name string) {
	for _, word := range words.OfName(name) {
		n.Add(single(word))
	}
}

// AddText puts the words of a text into the set.
func (n Names) AddText(text string) {
	for _, word := range words.Of(text) {
		n.Add(single(word))
	}
}

// some reports whether is holds for a name in the set.
func (n Names) some(is func(name string) bool) bool {
	for name := range n {
		if is(name) {
			return true
		}
	}
	return false
}

// begins reports whether a name in the set begins with a word.
func (n Names) begins(with string) bool {
	return n.some(func(name string) bool { return strings.HasPrefix(name, single(with)) })
}

// Kinds has the words of many names, sorted: all tools of a server share one.
type Kinds []string

// KindsOf returns the words of the names.
func KindsOf(names ...string) Kinds {
	all := NamesOf()
	for _, name := range names {
		all.AddWords(name)
	}
	return slices.Sorted(maps.Keys(all))
}

// hasWord reports whether a word is among them, in the singular or the plural.
func (k Kinds) hasWord(word string) bool {
	_, has := slices.BinarySearch(k, plain(single(word)))
	return has
}

// begins reports whether one of them begins with a word.
func (k Kinds) begins(with string) bool {
	at, _ := slices.BinarySearch(k, single(with))
	return at < len(k) && strings.HasPrefix(k[at], single(with))
}

func single(word string) string { return strings.TrimSuffix(word, "s") }

// Has reports whether the name is in the set.
func (n Names) Has(name string) bool { return n[plain(name)] }

var bars = strings.NewReplacer("-", "", "_", "")

func plain(name string) string { return bars.Replace(strings.ToLower(name)) }

// Finding is a technique with the sentence that uses it.
type Finding struct {
	Technique Technique
	// Quote is the sentence as it is written; at most 600 bytes.
	Quote string
	// Start and End are its offsets in the text, in bytes.
	Start, End int
	// Confidence is between 0 and 1.
	Confidence float64
	// Tools are the other tools that the sentence governs.
	Tools []string
	// Place is a file with secrets that the sentence names without saying whether the
	// model or the server reads it.
	Place string
}

// The bounds of what is read. Longer texts are read up to there.
const (
	maxText  = 4 << 20 // bytes; no more of a whole manifest is read
	maxQuote = 600     // bytes
	minText  = 12      // bytes; what is shorter orders nothing
	minName  = 8       // bytes, of a name
)

// Read finds the techniques of a text in the order of the text, each at most once, where
// it is clearest.
func Read(text string, of Context) []Finding {
	if len(text) < minText && (of.Kind != KindName || len(text) < minName) {
		return nil
	}
	text = fold(text[:min(len(text), maxText)])
	if of.Kind == KindName {
		text = words.Spell(text)
	}
	r := &reader{of: of, own: plain(of.Own), text: text}
	best := map[Technique]Finding{}
	if f, ok := speaksAsSystem(text); ok {
		best[f.Technique] = f
	}
	if f, ok := r.shapesSecret(text); ok {
		best[f.Technique] = f
	}
	if f, ok := r.exemplifies(text); ok {
		best[f.Technique] = f
	}
	sentences := split(text)
	r.fields = r.fieldsIn(sentences)
	for i := range sentences {
		s := &sentences[i]
		r.parse(s)
		technique, v := r.judgeAll(sentences, i)
		if v.confidence == 0 || v.confidence <= best[technique].Confidence {
			continue
		}
		best[technique] = Finding{
			Technique: technique, Quote: cut(text[s.Start:s.End]), Start: s.Start, End: s.End,
			Confidence: v.confidence, Tools: v.tools, Place: v.place,
		}
	}
	var all []Finding
	for _, technique := range techniques {
		if f, ok := best[technique]; ok {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

// verdict is the result of a test; confidence 0 means that the technique is not used.
type verdict struct {
	confidence float64
	tools      []string
	place      string
}

// test decides whether sentence i uses a technique.
type test struct {
	technique Technique
	of        func(r *reader, all []sentence, i int) verdict
}

// when makes a test of a condition.
func when(confidence float64, is func(r *reader, all []sentence, i int) bool) func(*reader, []sentence, int) verdict {
	return func(r *reader, all []sentence, i int) verdict {
		if !is(r, all, i) {
			return verdict{}
		}
		return verdict{confidence: confidence}
	}
}

// orderTests are for sentences that give orders, the most specific first; statedTests for
// sentences that are no orders in form.
var (
	orderTests = []test{
		{ParameterOverride, (*reader).overrides}, {ToolSequence, (*reader).sequences}, {SensitiveData, (*reader).asksForSecrets},
		{Redirection, when(0.8, (*reader).redirects)}, {Concealment, (*reader).conceals}, {ContextRequest, (*reader).asksForContext},
		{Shadowing, (*reader).shadows}, {Shadowing, (*reader).praises}, {Endless, when(0.6, (*reader).loops)}, {Authority, (*reader).injects},
	}
	statedTests = []test{
		{SensitiveData, (*reader).fillsWithFile}, {SensitiveData, ties(false)}, {SensitiveData, when(0.8, (*reader).givesAway)}, {ContextRequest, ties(true)}, {ContextRequest, when(0.8, (*reader).spills)},
		{Concealment, when(0.8, (*reader).sparesUser)}, {Concealment, when(0.75, (*reader).unspoken)}, {ParameterOverride, (*reader).diverts}, {ParameterOverride, (*reader).addsRecipient}, {ToolSequence, when(0.75, (*reader).holdsBack)}, {Redirection, when(0.75, (*reader).copiesAll)}, {Redirection, when(0.8, (*reader).awaitsDelivery)},
		{Authority, when(0.8, (*reader).overrulesChoice)}, {Shadowing, when(0.6, (*reader).monopolizes)}, {Endless, when(0.6, (*reader).insists)},
	}
)

// judgeAll returns the first technique that sentence i uses, whatever its form and language.
func (r *reader) judgeAll(all []sentence, i int) (Technique, verdict) {
	technique, v := r.judge(orderTests, all, i)
	if v.confidence == 0 && r.of.Kind != KindName {
		technique, v = r.judgeForeign(all, i)
	}
	if v.confidence == 0 && r.of.Kind != KindName && r.of.Kind != KindValue {
		technique, v = r.judge(statedTests, all, i)
	}
	if v.confidence == 0 && i == 0 {
		if v = r.ordersByName(&all[0]); v.confidence > 0 {
			return SensitiveData, v
		}
		return r.asksByName(&all[0])
	}
	return technique, v
}

// judge returns the first technique that sentence i uses.
func (r *reader) judge(tests []test, all []sentence, i int) (Technique, verdict) {
	for _, t := range tests {
		if v := t.of(r, all, i); v.confidence > 0 {
			return t.technique, v
		}
	}
	return "", verdict{}
}

func cut(text string) string { return report.Cut(strings.TrimSpace(text), maxQuote) }

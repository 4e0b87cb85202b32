package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// maxArguments bounds the words that a server gets because its command line lacks them.
const maxArguments = 16

// starting are the words with which command lines choose MCP over stdio or start a server, the surest first.
var starting = []string{"stdio", "serve", "start", "server", "mcp", "run", "mcp-server", "start-server", "run-server", "launch"}

// argue adds what the command line of a server lacks that exited before it listed anything. A secret among it is
// also set as the variable of that name, by which the audit recognizes it. An exact command gets nothing: the verdict
// would be about another one.
func (p Plan) argue(how *launch, first observation, runs []observation) {
	if p.Exact || first.result.Listed || !first.exited {
		return
	}
	text := first.stderr + "\n" + first.result.Pollution.Text
	var tried []string
	for _, o := range runs {
		tried = append(tried, o.how.arguments...)
	}
	before := how.arguments
	if last := len(before) - 1; last >= 0 && slices.Contains(starting, before[last]) && rejected.MatchString(text) {
		before = before[:last:last]
	}
	lacking := demandsOf(text)
	if word := startingWord(text, tried); word != "" && (len(lacking) == 0 || slices.ContainsFunc(lacking, demand.chooses)) {
		lacking = []demand{{name: word, literal: true}}
	}
	for _, d := range lacking {
		before = p.meet(d, how, before)
	}
	how.arguments = before
}

// supplied returns the gaps of a server that starts only with what the audit added to its command or its libraries:
// nobody knows what it does without that, later or elsewhere.
func (p Plan) supplied(runs []observation) (all []report.Gap) {
	if added := exercised(runs).how.arguments; len(added) > 0 {
		all = append(all, report.Gap{What: "AddedArguments", Count: len(added), Detail: fmt.Sprintf(
			"arguments that the server demanded and its command lacks: what it does without them is not known (%d)", len(added))})
	}
	if p.Older != "" {
		all = append(all, report.Gap{What: "OlderLibrary", Count: 1, Detail: fmt.Sprintf(
			"the server does not start with the newest versions of its libraries, with which others install it: it was installed with %s", p.Older)})
	}
	return all
}

// meet appends what meets a demand to the arguments before it, unless they have it.
func (p Plan) meet(d demand, how *launch, before []string) []string {
	words := d.words()
	if has := slices.Contains(before, words[0]); has || len(before)+len(words) > maxArguments {
		return before
	}
	if name := d.variable(); !d.literal && decoy.Secret(name) {
		how.asked = p.give(how.asked, name, "")
		if i := slices.IndexFunc(how.asked, func(v decoy.Var) bool { return v.Name == name }); i >= 0 {
			words[len(words)-1] = how.asked[i].Value
		}
	}
	return slices.Concat(before, words)
}

// demand is an argument that a server says it lacks.
type demand struct {
	// option is the flag before the value; "" for a positional argument.
	option string
	// name says what the value is, in the server's words. A literal is the value itself.
	name    string
	literal bool
}

// chooses reports whether a demand is for a word that selects what the program does.
func (d demand) chooses() bool { return !d.literal && selecting.MatchString(d.name) }

// variable returns the name of an environment variable for the same value.
func (d demand) variable() string {
	return strings.ToUpper(strings.Trim(notName.ReplaceAllString(d.name, "_"), "_"))
}

// words returns the arguments that meet a demand.
func (d demand) words() []string {
	value := d.name
	switch {
	case d.literal:
	case selecting.MatchString(d.name):
		value = starting[0]
	case !decoy.Configures(d.variable()):
		value = scratch // most unknown ones are directories by another name, such as a vault
	default:
		value = decoy.Asked(d.variable(), "").Value
	}
	if d.option == "" {
		return []string{value}
	}
	return []string{d.option, value}
}

var (
	notName   = lazyregexp.New(`[^A-Za-z0-9]+`)
	selecting = lazyregexp.New(`(?i)^(?:transport|mode|(?:sub)?commands?|action)$`)
	// rejected matches the complaint about a word that is none of the possible ones.
	rejected = lazyregexp.New(`(?i)invalid choice|(?:no such|unknown|unrecogni[sz]ed|invalid|unexpected|too many)[\w ]* (?:sub)?(?:command|argument|option|transport|mode)`)
	// usage matches texts that explain a command line, and commandless the complaint that no command was given.
	usage       = lazyregexp.New(`(?i)\busage\b|(?m:^[\s│|╭─]*(?:sub)?commands?\b)|\bcommand[- ]line argument|\bone of:`)
	commandless = lazyregexp.New(`(?i)\bmissing (?:sub)?command\b|\b(?:sub)?command (?:is )?(?:required|missing)|\b(?:specify|provide|need|requires?) a (?:sub)?command\b|\busage:[^\n]* (?:COMMAND|<(?:sub)?command>)`)
	// missed matches the complaint about arguments that are missing, up to their names.
	missed = lazyregexp.New(`(?im)(?:required arguments were not provided:\s*|(?:following )?arguments? (?:is|are) required:|missing (?:required )?(?:arguments?|options?|parameters?|positional)s?:?|required (?:arguments?|options?|flag\(s\)|flags?):?)[ \t]*([^\n]+)`)
	// option and positional match names there.
	option     = lazyregexp.New(`--[A-Za-z][\w-]*`)
	positional = lazyregexp.New(`^[\s'"\x60<]*([A-Za-z][\w-]{0,40})[\s'"\x60>.]*$`)
	// asArgument matches "provide a database URL as a command-line argument".
	asArgument = lazyregexp.New(`(?i)\b(?:provide|pass|specify|give)s? (?:an?|the|your) ([A-Za-z][A-Za-z _-]{1,40}?) as (?:an?|the) (?:first |command[- ]line )*argument`)
	// synopsis matches the usage line of a program, which may follow its heading.
	synopsis = lazyregexp.New(`(?i)\busage:[ \t]*\n?([^\n]+)`)
	// optional and placeholder match parts of it.
	optional    = lazyregexp.New(`\[[^\[\]]*\]`)
	placeholder = lazyregexp.New(`(?:(--[A-Za-z][\w-]*)[ =])?<([A-Za-z][\w -]{0,40})>`)
)

// demandsOf returns the arguments that a text says are missing; those of the usage line if it names none.
func demandsOf(text string) (all []demand) {
	add := func(d demand) {
		if len(all) < maxArguments/2 && !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	for _, found := range missed.FindAllStringSubmatch(text, maxArguments) {
		names := strings.Trim(found[1], " \t│|")
		options := option.FindAllString(names, maxArguments)
		for _, flag := range options {
			add(demand{option: flag, name: strings.TrimLeft(flag, "-")})
		}
		for name := range strings.SplitSeq(names, ",") {
			if word := positional.FindStringSubmatch(name); word != nil {
				add(demand{name: word[1]})
			}
		}
	}
	for _, found := range asArgument.FindAllStringSubmatch(text, maxArguments) {
		add(demand{name: found[1]})
	}
	if found := synopsis.FindStringSubmatch(text); len(all) == 0 && found != nil {
		line := found[1]
		for shorter := ""; shorter != line; {
			shorter, line = line, optional.ReplaceAllString(line, "")
		}
		for _, each := range placeholder.FindAllStringSubmatch(line, maxArguments) {
			add(demand{option: each[1], name: each[2]})
		}
	}
	return all
}

// startingWord returns the word that starts the server: the surest of those that its usage lists, or any if it wants
// a command and lists none; "" if it wants none, or all were tried.
func startingWord(text string, tried []string) string {
	if strings.Contains(text, "Traceback (most recent call last)") {
		return "" // of code, which has such words as well
	}
	wants, listed := commandless.MatchString(text), usage.MatchString(text)
	for _, guess := range []bool{false, true} {
		for _, word := range starting {
			if !slices.Contains(tried, word) && (guess && wants || listed && lists(text, word)) {
				return word
			}
		}
	}
	return ""
}

// lists reports whether a usage lists a word: at the beginning of an indented line, or among choices.
func lists(text, word string) bool {
	word = regexp.QuoteMeta(word)
	return regexp.MustCompile(`(?m)^[ \t│|]+` + word + `(?:[ \t,:]|$)|[{,|(]\s*['"]?` + word + `['"]?\s*[},|)]|(?i:one of|choose from|either)\W[^\n]*\b` + word + `\b|(?i:usage):? [^\n\[<]*\s` + word + `\b`).MatchString(text)
}

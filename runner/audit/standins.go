package audit

import (
	"errors"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

const (
	// maxStandIns bounds the number of programs that get a stand-in.
	maxStandIns = 16
	// standInCalls bounds how often each tool is called with stand-ins.
	standInCalls = 4
)

var (
	errNoneMissing = errors.New("the server never missed a program, nor asked for a variable")
	errAllAided    = errors.New("every launch after the first has them: the server does not start without")
)

// standIn prepares the launch with stand-ins for missing programs, and values for variables that the server asked
// for.
func standIn(plan Plan, how *launch, runs []observation) {
	first := exercised(runs)
	how.once, how.listOnly, how.calls, how.identity = true, false, standInCalls, windsurf
	how.given, how.standIns = first.result.Accepted, missing(runs)
	if before, done := at(runs, report.LaunchStandIns); done {
		first = before
	}
	how.asked, how.excluded = plan.asked(first)
}

// asksOn reports whether the server asked for more once it had a variable, or looked for more once it had a program.
func (p Plan) asksOn(runs []observation) bool {
	before, done := at(runs, report.LaunchStandIns)
	asked, _ := p.asked(before)
	return done && before.launched == nil && (len(before.how.asked) > 0 && !reflect.DeepEqual(asked, before.how.asked) ||
		len(before.how.standIns) > 0 && len(missing(runs)) > len(before.how.standIns))
}

// unmissed marks the launch as impossible if nothing is missing, or all launches have it.
func unmissed(how launch, _ Plan, runs []observation) launch {
	first := exercised(runs).how
	switch {
	case len(how.asked) > len(first.asked):
	case len(first.standIns) > 0:
		how.impossible = errAllAided
	case len(how.standIns) == 0:
		how.impossible = errNoneMissing
	}
	return how
}

// coverage returns how far everything was exercised. Tools count that accepted a call only with stand-ins, which is
// among the gaps, or only after the server had exited during the call of another tool.
func coverage(runs []observation) (report.Coverage, []report.CapabilityCoverage) {
	first := exercised(runs).result
	all, rows := first.Coverage, slices.Clone(first.Exercise)
	var aided []report.CapabilityCoverage
	for _, o := range runs {
		if o.how.moment == report.LaunchStandIns || o.how.goesOn {
			aided = append(aided, o.result.Exercise...)
		}
	}
	for _, more := range aided {
		i := slices.IndexFunc(rows, func(row report.CapabilityCoverage) bool { return row.Kind == more.Kind && row.Name == more.Name })
		if i < 0 || more.Kind != report.CapabilityTool || rows[i].Calls.Done > 0 || more.Calls.Total == 0 {
			continue
		}
		never := rows[i].Calls.Total == 0
		if never && first.EndedIn.Kind != report.CapabilityTool || !never && more.Calls.Done == 0 {
			continue
		}
		if never {
			rows[i].Skipped = more.Skipped
			all.Tools.Called++
		}
		addCalls(&rows[i], &all, more)
	}
	return all, rows
}

// addCalls adds the calls of a tool in a further launch.
func addCalls(row *report.CapabilityCoverage, all *report.Coverage, more report.CapabilityCoverage) {
	for _, calls := range []*report.Share{&row.Calls, &all.Calls} {
		calls.Total += more.Calls.Total
		calls.Done += more.Calls.Done
	}
	if more.Calls.Done > 0 {
		all.Tools.Accepted++
	}
}

// standIns returns the programs that the server was not observed with.
func (c *collection) standIns(o observation) {
	if o.launched == nil && len(o.how.standIns) > 0 && !slices.ContainsFunc(c.list, func(g report.Gap) bool { return g.What == "MissingPrograms" }) {
		c.add("MissingPrograms", len(o.how.standIns), "the machine of the audit lacks programs that the server looked for, and stand-ins that print something plausible "+
			"answered for them: what the server does with the real ones is not known: "+strings.Join(o.how.standIns, ", "))
	}
}

// missing returns the programs that the server looked for along PATH in vain, sorted: those that it tried to execute,
// those of shell commands that did not run, those that it reported as not found, and those that it only looked for.
func missing(runs []observation) []string {
	var sought []string
	started := map[string]bool{}
	for _, o := range runs {
		for _, e := range o.profile.Effects {
			words := e.Argv.Words()
			switch {
			case e.Kind != profile.KindExec || len(words) == 0:
			case e.Error == "":
				started[path.Base(e.Path)] = true
				if p := parseProgram(e); p.shell {
					sought = append(sought, commandsOf(p.inline)...)
				}
			case e.Error == "ENOENT" && words[0] == path.Base(e.Path):
				sought = append(sought, words[0])
			}
		}
		sought = append(append(sought, o.complainedOf()...), o.searched...)
	}
	sought = slices.DeleteFunc(sought, func(name string) bool { return started[name] || !replaceable(name) })
	slices.Sort(sought)
	sought = slices.Compact(sought)
	return sought[:min(len(sought), maxStandIns)]
}

// programName matches names of programs that can get a stand-in.
var programName = lazyregexp.New(`^[A-Za-z][\w.+-]{1,31}$`)

// builtins are words of shells (POSIX, Shell Command Language, 2.4 and 2.14, and bash(1)), programs that runtimes
// start by themselves, and how runtimes write "none".
var builtins = strings.Fields(`alias bg break builtin case cd command continue declare do done echo elif else esac eval exec
	exit export false fg fi for function getopts hash if in jobs kill let local printf pwd read readonly return set shift source
	test then time times trap true type ulimit umask unalias unset until wait which while ldconfig uname lsb_release
	undefined null None nil NaN`)

// replaceable reports whether a program of that name gets a stand-in. Programs that run or download code get none,
// because the code would not run. Words in capitals are labels that look like a command, such as "STDERR: not found".
func replaceable(name string) bool {
	p := parseProgram(profile.Effect{Fact: profile.Fact{Path: name}})
	_, fetches := pkgmanager.Of(p.name)
	return programName.MatchString(name) && strings.ToUpper(name) != name && !slices.Contains(builtins, name) && !inputs.Injected(name) &&
		!p.interprets && !p.shell && !p.downloads && !fetches
}

var (
	quoted     = lazyregexp.New(`'[^']*'|"[^"]*"`)
	separators = lazyregexp.New("[;&|(){}`\n]+")
	assignment = lazyregexp.New(`^\w+=`)
)

// commandsOf returns the programs that a shell's text runs or looks for.
func commandsOf(text string) (all []string) {
	for _, part := range separators.Split(quoted.ReplaceAllString(text, "_"), maxStandIns) {
		words := slices.DeleteFunc(strings.Fields(part), func(word string) bool { return strings.HasPrefix(word, "-") })
		for len(words) > 0 && assignment.MatchString(words[0]) {
			words = words[1:]
		}
		if len(words) > 1 && slices.Contains([]string{"which", "command", "type"}, words[0]) {
			words = words[1:]
		}
		if len(words) > 0 {
			all = append(all, words[0])
		}
	}
	return all
}

// complaints match how shells, runtimes and servers report a missing program.
var complaints = []*lazyregexp.Regexp{
	lazyregexp.New(`exec: \\?"([^"\\]+)\\?": executable file not found`), // Go
	lazyregexp.New(`spawn ([\w.+-]+) ENOENT`),                            // Node
	lazyregexp.New(`sh: (?:line )?\d+: ([\w.+-]+): (?:command )?not found`),
	lazyregexp.New(`([\w.+-]+): command not found`),
	lazyregexp.New(`(?i)([\w.+-]+)(?: (?:CLI|binary|executable|command))? (?:(?:is|was|are) )?not (?:installed|(?:found |available )?(?:in|on) (?:the |your |system )?\$?PATH)\b`),
}

// reported returns the texts in which the server may say what it lacks.
func (o observation) reported() []string {
	texts := []string{o.stderr}
	for _, said := range o.result.Outputs {
		if said.Kind == report.OutputError || said.Kind == report.OutputResult {
			texts = append(texts, said.Text)
		}
	}
	return texts
}

// complainedOf returns the programs that the server reported as missing.
func (o observation) complainedOf() (all []string) {
	for _, text := range o.reported() {
		for _, says := range complaints {
			for _, found := range says.FindAllStringSubmatch(text, maxStandIns) {
				all = append(all, found[1])
			}
			text = says.ReplaceAllString(text, "") // no text is matched twice
		}
	}
	return all
}

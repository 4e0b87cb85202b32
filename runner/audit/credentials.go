package audit

import (
	"reflect"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

const (
	// maxAsked bounds the variables that a server is given because it asks for them, by
	// number.
	maxAsked = 16
	// maxAsking bounds how often a server is started that does not get so far as to list
	// anything, and asks for more each time.
	maxAsking = 5
	// maxRefusal is the length of the longest result that is taken for a refusal, in bytes.
	maxRefusal = 512
)

// registered are decoys for the variables that the user sets to secrets, and for those that the server's entry for the MCP
// registry requires, and nobody has set.
func (p Plan) registered() (given []decoy.Var) {
	for _, name := range p.Secrets {
		if p.settable(name) {
			given = p.give(given, name, "")
		}
	}
	for _, v := range scope.RequiredVariables(p.ServerJSON) {
		switch {
		case len(given) == maxAsked || !p.settable(v.Name):
		case v.Choice != "":
			given = append(given, decoy.Var{Name: v.Name, Value: v.Choice, Asked: true})
		default:
			given = append(given, decoy.Asked(v.Name, ""))
		}
	}
	return given
}

// asked are the variables that a run was given, and those besides that it has asked for:
// by name, or where it names none that is new, those of its code. A run that asks for
// nothing new has the same.
func (p Plan) asked(o observation) []decoy.Var {
	given := slices.Clone(o.how.asked)
	for _, text := range o.refusals() {
		names := variablesIn(text)
		if o.result.Listed && !meansVariables(text, names) {
			continue
		}
		for _, name := range names {
			given = p.give(given, name, prefixOf(name, text))
		}
	}
	for _, text := range o.refusals() {
		given = excluding(given, text)
	}
	if !reflect.DeepEqual(given, o.how.asked) {
		return given
	}
	// First what holds a secret, and if that is not enough, where the service is.
	for _, wanted := range []func(string) bool{decoy.Secret, func(name string) bool { return decoy.Configures(name) && !operational.MatchString(name) }} {
		for _, name := range o.variables {
			if wanted(name) {
				given = p.give(given, name, "")
			}
		}
		if len(given) > len(o.how.asked) {
			break
		}
	}
	return given
}

// excluding removes the variables that an error says must not be set together with others.
func excluding(given []decoy.Var, text string) []decoy.Var {
	for _, found := range excludes.FindAllStringSubmatch(text, maxAsked) {
		name := strings.ToLower(found[1] + found[2])
		given = slices.DeleteFunc(given, func(v decoy.Var) bool {
			own := strings.ToLower(v.Name)
			return own == name || strings.HasSuffix(own, "_"+name)
		})
	}
	return given
}

// excludes matches "if A is set, B must be None" and "B and A are mutually exclusive".
var excludes = lazyregexp.New(`(?i)\b(?:if|when) ['"\x60]?(\w+)['"\x60]? is (?:set|given|provided|specified|present)\b[^.\n]{0,80}\b(?:must not|must be (?:None|null|unset|empty|absent)|cannot|can't|may not|should not)\b|` +
	`\w['"\x60]? (?:and|or) ['"\x60]?(\w+)['"\x60]? (?:are mutually exclusive|cannot both|can't both|(?:cannot|can't|must not) be (?:set|used|given|provided|specified) (?:together|at the same time))`)

// operational are variables by which a server is told to listen, or how to run.
var operational = lazyregexp.New(`^(?:(?:MCP|HTTP|HTTPS|SERVER|SSE|LOG|CACHE|DEBUG|TEST|CI|NPM|AUTH|OAUTH)_\w+|[A-Z0-9]+|\w*(?:PORT|TIMEOUT|LIMIT|RETRIES|MODE|MODEL|VERSION))$`)

// give adds a variable to those that a server is given, or one that begins as it has to.
func (p Plan) give(given []decoy.Var, name, prefix string) []decoy.Var {
	i := slices.IndexFunc(given, func(v decoy.Var) bool { return v.Name == name })
	switch {
	case i >= 0 && (prefix == "" || strings.HasPrefix(given[i].Value, prefix)):
	case i >= 0:
		given[i] = decoy.Asked(name, prefix)
	case len(given) < maxAsked && p.settable(name):
		given = append(given, decoy.Asked(name, prefix))
	}
	return given
}

// barren reports whether a server has nothing to exercise: many leave out the tools for whose services they have
// no credentials.
func (o observation) barren() bool { return o.result.Listed && o.result.Coverage.Nothing() }

// lacksCredential reports whether a run ended before it had listed anything, listed nothing, or was refused
// for want of a credential.
func (o observation) lacksCredential() bool {
	if !o.result.Listed {
		return o.exited
	}
	if o.barren() {
		return true
	}
	return slices.ContainsFunc(o.refusals(), func(text string) bool {
		text = text[:min(len(text), maxRefusal)]
		return strange.MatchString(text) || wanted.MatchString(text) && lacks.MatchString(text)
	})
}

var (
	// wanted matches the credentials that a refusal may ask for.
	wanted = lazyregexp.New(`(?i)\bAPI[ _-]?keys?\b|\b(?:access|auth(?:entication|orization)?|API|bearer|personal access|bot) tokens?\b|\bcredentials?\b|\bclient (?:id|secret)\b`)
	// strange is how a refusal says that nobody is known to ask.
	strange = lazyregexp.New(`(?i)\bnot (?:logged in|signed in|authenticated|authori[sz]ed)\b|\bauthentication (?:is )?(?:required|failed)\b|\bunauthori[sz]ed\b|\b(?:is|are) not configured\b`)
)

// settable reports whether a variable is one that the audit may set: neither the operator
// nor the sandbox has, and it is neither the machine's nor one that has other code run.
func (p Plan) settable(name string) bool {
	_, taken := set(p.Env)[name]
	return !taken && !machines.MatchString(name) && environ.Problem([]string{name}, func(string) string { return "x" }) == "" &&
		!slices.ContainsFunc(p.Decoys.Vars, func(v decoy.Var) bool { return v.Name == name })
}

// machines are variables that belong to the machine and its runtimes.
var machines = lazyregexp.New(`^(?:HOME|PWD|OLDPWD|USER|LOGNAME|MAIL|HOSTNAME|TERM|SHELL|LANG|LC_\w+|TMPDIR|TMP|TEMP|XDG_\w+|` +
	`NODE_\w+|PYTHON\w*|SSL_\w+|REQUESTS_\w+|CURL_\w+|GIT_\w+|MCPAUDIT\w*|\w+_PROXY)$`)

// refusals are the texts in which a run may say what it lacks.
func (o observation) refusals() []string {
	texts := []string{o.stderr, o.result.Incomplete.Message}
	for _, said := range o.result.Outputs {
		if said.Kind == report.OutputError || said.Kind == report.OutputResult && len(said.Text) <= maxRefusal && refuses.MatchString(said.Text) {
			texts = append(texts, said.Text)
		}
	}
	return texts
}

var (
	// refuses is how a result begins that is one in name only.
	refuses = lazyregexp.New(`(?i)^\W{0,8}(?:error|fail|missing|please|unauthori[sz]ed|not |no |cannot|could not|unable|invalid|the environment|[A-Z_]+ (?:is|environment))`)
	lacks   = lazyregexp.New(`(?i)missing|requir|\bmust\b|\bneeds?\b|\bneeded|not (?:been )?(?:set|found|defined|provided|configured|specified|present|given)|` +
		`\bunset|undefined|\bprovide|\bplease|\bset\b|specify|\bconfigure|no value|\bempty\b|invalid|without|KeyError`)
	// unset matches words that are said of variables, and not of arguments.
	unset = lazyregexp.New(`(?i)\b(?:set|unset|export|(?:not |un)(?:configured|defined))\b`)
	// constant is a name as most variables have it. After "..." stands only the end of one.
	constant = lazyregexp.New(`(?:^|[^.\w]|(?:^|[^.])\.)([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)\b`)
	// explicit is a name that a runtime or a person calls that of a variable.
	explicit    = lazyregexp.New(`(?:KeyError: |(?i:env(?:ironment)?[ _]?var(?:iable)?s?):?\s+)["'\x60$]*([A-Z][A-Z0-9_]+)\b`)
	environment = lazyregexp.New(`(?i)\benv(?:ironment)?\b`)
	// field matches a missing field of a class of settings, as pydantic reports it; pydantic-settings
	// reads it from a variable of that name in any case.
	field = lazyregexp.New(`(?m)^([a-z]\w*)\r?\n\s+Field required \[type=missing`)
	// begins says how a value has to begin.
	begins = lazyregexp.New(`(?i)(?:start|begin)(?:s|ning|ing)? with:? ["'\x60]?([A-Za-z0-9][\w-]{0,15}[_-])`)
)

// variablesIn names the variables that a text says to lack.
func variablesIn(text string) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if !lacks.MatchString(text) {
		return nil
	}
	for _, found := range explicit.FindAllStringSubmatch(text, maxAsked) {
		add(found[1])
	}
	for _, found := range constant.FindAllStringSubmatch(text, maxAsked) {
		if name := found[1]; decoy.Configures(name) {
			add(name)
		}
	}
	for _, found := range field.FindAllStringSubmatch(text, maxAsked) {
		if name := strings.ToUpper(found[1]); decoy.Configures(name) {
			add(name)
		}
	}
	return names
}

// meansVariables reports whether a text names variables: it speaks of the environment,
// or says that one of them is not set. Names in capital letters may be those of arguments, too.
func meansVariables(text string, names []string) bool {
	return environment.MatchString(text) || slices.ContainsFunc(names, func(name string) bool {
		before, after, _ := strings.Cut(text, name)
		return decoy.Secret(name) || unset.MatchString(before[max(0, len(before)-nearName):]) || unset.MatchString(after[:min(len(after), nearName)])
	})
}

// nearName is how far from a name what is said of itself may stand, in bytes.
const nearName = 24

// prefixOf is how a text says that the value of a variable has to begin; "" if it does not.
func prefixOf(name, text string) string {
	for line := range strings.Lines(text) {
		if found := begins.FindStringSubmatch(line); found != nil && strings.Contains(line, name) {
			return found[1]
		}
	}
	return ""
}

// given are the variables that any run was given because the server asked for them.
func given(runs []observation) (all []decoy.Var) {
	for _, o := range runs {
		if o.launched == nil {
			all = append(all, o.how.asked...)
		}
	}
	return all
}

// namesOf are the names of variables, each once, sorted.
func namesOf(variables []decoy.Var) (all []string) {
	for _, v := range variables {
		all = append(all, v.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// credentials are the gap of what a server does with secrets that its services know.
func (c *collection) credentials(runs []observation) {
	names := namesOf(given(runs))
	c.add("MissingVariables", len(names), "variables that the server asked for had plausible values of the audit's in place of real ones, "+
		"and what it does with those is not known: "+strings.Join(names, ", "))
}

// environment returns the variables that a launch sets, in place of those that the server has
// under the same names.
func (how launch) environment(plan Plan) []string {
	return append(how.identity.unless(set(plan.Env)), settings(how.asked)...)
}

// settings are variables as an environment has them.
func settings(variables []decoy.Var) (all []string) {
	for _, v := range variables {
		all = append(all, v.Name+"="+v.Value)
	}
	return all
}

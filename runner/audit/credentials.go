package audit

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

const (
	// maxAsked bounds the number of variables that a server gets because it asks for them.
	maxAsked = 16
	// maxAsking bounds how often a server is started that exits before it lists anything and asks for more each time.
	maxAsking = 5
	// maxRefusal is the length of the longest result that counts as a refusal, in bytes.
	maxRefusal = 512
)

// registered returns decoys for the variables that the user marks as secrets, and for those that the server's
// registry entry requires and nobody has set.
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
		case v.Secret:
			given = append(given, decoy.Asked(v.Name, ""))
		default:
			given = append(given, setting(decoy.Asked(v.Name, ""), "", nil))
		}
	}
	return given
}

// setting makes a variable a setting, which a server may show, unless its name says that it is a secret or leads to one.
// A switch gets the value that a text demands, and what leads to a file the path of one, if possible of another than the given ones have.
func setting(v decoy.Var, text string, given []decoy.Var) decoy.Var {
	_, after, _ := strings.Cut(text, v.Name)
	switch {
	case pathOfFile.MatchString(after):
		return accountFile(v.Name, given)
	case decoy.Configures(v.Name):
		return v
	}
	v.Secrets = nil
	if found := switchedOn.FindStringSubmatch(after); found != nil {
		v.Value = found[1]
	}
	return v
}

// pathOfFile matches what follows the name of a variable that leads to a file with credentials: "to the path of your
// credentials file".
var pathOfFile = lazyregexp.New("(?i)^['\"`]?(?: env(?:ironment)? var(?:iable)?)? (?:to|as|with|is) (?:the )?(?:full |absolute )?(?:path|location)\\b[^.\\n]{0,40}\\b(?:credentials?|keys?|token|secrets?|client|account)\\b")

// switchedOn matches what follows the name of a switch: "=true", "environment variable to 1".
var switchedOn = lazyregexp.New("(?i)^['\"`]?(?: env(?:ironment)? var(?:iable)?)?(?: ?= ?| to )['\"`]?(true|1|yes|on)\\b")

// asked returns the variables that a run was given and those that it also asked for: by name or, if it names no new
// ones, those that its code reads. If the run asks for nothing new, the result is unchanged. What an error excluded once
// is never given again: excluded has all of that.
func (p Plan) asked(o observation) (given []decoy.Var, excluded []string) {
	given, excluded = p.demanded(o), slices.Clone(o.how.excluded)
	for _, text := range o.refusals() {
		excluded = append(excluded, excludedBy(text, given)...)
	}
	given = slices.DeleteFunc(given, func(v decoy.Var) bool { return slices.Contains(excluded, v.Name) })
	for i, v := range given {
		if slices.Contains(o.filed, v.Name) {
			given[i] = accountFile(v.Name, given)
		}
	}
	if !reflect.DeepEqual(given, o.how.asked) {
		return given, excluded
	}
	// Secrets first, with the account that they are of; the service's address only if they are not enough.
	for _, wanted := range []func(string) bool{func(name string) bool { return decoy.Secret(name) || ofAccount.MatchString(name) }, func(name string) bool { return decoy.Configures(name) && !operational.MatchString(name) }} {
		for _, name := range o.variables {
			if wanted(name) && !slices.Contains(excluded, name) {
				given = p.give(given, name, "")
			}
		}
		if len(given) > len(o.how.asked) {
			break
		}
	}
	return given, excluded
}

// demanded returns the variables that a run was given, and those that it names when it refuses something.
func (p Plan) demanded(o observation) []decoy.Var {
	given := slices.Clone(o.how.asked)
	for _, text := range o.refusals() {
		names := variablesIn(text)
		if o.result.Listed && !meansVariables(text, names) {
			continue
		}
		for _, name := range names {
			before, prefix := len(given), prefixOf(name, text)
			given = p.give(given, name, prefix)
			if len(given) > before && prefix == "" {
				given[before] = setting(given[before], text, given[:before])
			}
		}
		for _, v := range choices(text) {
			if len(given) < maxAsked && p.settable(v.Name) && !slices.ContainsFunc(given, func(known decoy.Var) bool { return known.Name == v.Name }) {
				given = append(given, v)
			}
		}
	}
	return given
}

// choices returns the variables whose possible values a text lists, each with the first of them.
func choices(text string) (all []decoy.Var) {
	for _, found := range oneOf.FindAllStringSubmatch(text, maxAsked) {
		all = append(all, decoy.Var{Name: found[1], Value: found[2], Asked: true})
	}
	return all
}

// oneOf matches a variable and what is said about it: "ROLE_NAME: Invalid enum value. Expected 'reader' | 'editor'",
// "ROLE_NAME must be one of: reader, editor".
var oneOf = lazyregexp.New(`\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?:[^A-Za-z]{1,16}_errors)?[^A-Za-z]{1,24}` +
	`(?:(?i:invalid (?:discriminator|enum) value|invalid (?:option|input))\W{1,3})?(?i:expected(?: one of)?|(?:must|should) be (?:either|one of))[\s:\[(]{1,4}['"\x60]?(\w[\w-]{0,31})\b`)

// ofAccount matches variables that say whose account a server uses, and the mail servers, which have no default.
var ofAccount = lazyregexp.New(`_(?:EMAIL|E?MAIL_ADDRESS|USER|USERNAME|LOGIN|(?:IMAP|SMTP|POP3?)(?:_SERVER)?(?:_HOST)?)$`)

// excludedBy returns the given variables that, by an error, must not be set together with others.
func excludedBy(text string, given []decoy.Var) (names []string) {
	for _, found := range excludes.FindAllStringSubmatch(text, maxAsked) {
		name := strings.ToLower(found[1] + found[2])
		for _, v := range given {
			if own := strings.ToLower(v.Name); own == name || strings.HasSuffix(own, "_"+name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// excludes matches "if A is set, B must be None" and "B and A are mutually exclusive".
var excludes = lazyregexp.New(`(?i)\b(?:if|when) ['"\x60]?(\w+)['"\x60]? is (?:set|given|provided|specified|present)\b[^.\n]{0,80}\b(?:must not|must be (?:None|null|unset|empty|absent)|cannot|can't|may not|should not)\b|` +
	`\w['"\x60]? (?:and|or) ['"\x60]?(\w+)['"\x60]? (?:are mutually exclusive|cannot both|can't both|(?:cannot|can't|must not) be (?:set|used|given|provided|specified) (?:together|at the same time))`)

// operational matches variables that configure how a server listens or runs.
var operational = lazyregexp.New(`^(?:MCP_(?:[A-Z]+|(?:SERVER|TRANSPORT|SESSION|ALLOWED|CORS|TOOLS?|HTTP|SSE|LOG|AUTH|OAUTH)_\w+)|(?:HTTP|HTTPS|SERVER|SSE|LOG|CACHE|DEBUG|TEST|CI|NPM|AUTH|OAUTH)_\w+|[A-Z0-9]+|\w*(?:PORT|TIMEOUT|LIMIT|RETRIES|MODE|MODEL|VERSION))$`)

// give adds a variable to those that the server gets, with the required prefix if there is one.
func (p Plan) give(given []decoy.Var, name, prefix string) []decoy.Var {
	i := slices.IndexFunc(given, func(v decoy.Var) bool { return v.Name == name })
	switch {
	case i >= 0 && (prefix == "" || strings.HasPrefix(given[i].Value, prefix)):
	case i >= 0:
		given[i] = decoy.Asked(name, prefix)
	case len(given) == maxAsked || !p.settable(name):
	case prefix == "" && fileName.MatchString(name):
		given = append(given, accountFile(name, given))
	default:
		given = append(given, decoy.Asked(name, prefix))
	}
	return given
}

// fileName matches the names of variables for the path of a credentials file.
var fileName = lazyregexp.New(`^GOOGLE_APPLICATION_CREDENTIALS$|(?:CREDENTIALS?|OAUTH|TOKENS?|AUTH|ACCOUNT|SECRETS?|(?:CLIENT|SERVICE|ACCOUNT|JSON)_?KEYS?|KEYFILE)(?:_(?:FILE|JSON))?_?(?:PATH|FILE|FILENAME|LOCATION)$`)

// accountFile makes a variable that names a credentials file, if possible one that no other variable names.
func accountFile(name string, given []decoy.Var) decoy.Var {
	v := decoy.Var{Name: name, Asked: true}
	for _, file := range inputs.AccountFiles {
		v.Value = path.Join(scratch, file)
		if !slices.ContainsFunc(given, func(other decoy.Var) bool { return other.Value == v.Value && other.Name != name }) {
			break
		}
	}
	return v
}

// barren reports whether there is nothing to exercise: many servers omit tools for services for which they have no
// credentials.
func (o observation) barren() bool { return o.result.Listed && o.result.Coverage.Nothing() }

// lacksCredential reports whether a run exited before it had listed anything, listed nothing, or refused calls for
// lack of a credential.
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
	// strange matches refusals because the caller is unknown.
	strange = lazyregexp.New(`(?i)\bnot (?:logged in|signed in|authenticated|authori[sz]ed)\b|\bauthentication (?:is )?(?:required|failed)\b|\bunauthori[sz]ed\b|\b(?:is|are) not configured\b`)
)

// settable reports whether the audit may set a variable: one that neither the operator nor the sandbox has set, and
// that neither belongs to the machine nor loads code.
func (p Plan) settable(name string) bool {
	_, taken := set(p.Env)[name]
	return !taken && !machines.MatchString(name) && environ.Problem([]string{name}, func(string) string { return "x" }) == "" &&
		!slices.ContainsFunc(p.Decoys.Vars, func(v decoy.Var) bool { return v.Name == name })
}

// machines are variables of the machine and its runtimes.
var machines = lazyregexp.New(`^(?:HOME|PWD|OLDPWD|USER|LOGNAME|MAIL|HOSTNAME|TERM|SHELL|LANG|LC_\w+|TMPDIR|TMP|TEMP|XDG_\w+|` +
	`NODE_\w+|PYTHON\w*|SSL_\w+|REQUESTS_\w+|CURL_\w+|GIT_\w+|MCPAUDIT\w*|\w+_PROXY)$`)

// refusals returns the texts in which a run may say what it lacks.
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
	// refuses matches how a result begins that is a refusal although it is not an error.
	refuses = lazyregexp.New(`(?i)^\W{0,8}(?:error|fail|missing|please|unauthori[sz]ed|not |no |cannot|could not|unable|invalid|the environment|[A-Z_]+ (?:is|environment))`)
	lacks   = lazyregexp.New(`(?i)missing|requir|\bmust\b|\bneeds?\b|\bneeded|not (?:been )?(?:set|found|defined|provided|configured|specified|present|given)|` +
		`\bunset|undefined|\bprovide|\bplease|\bset\b|specify|\bconfigure|no value|\bempty\b|invalid|without|KeyError`)
	// unset matches words about variables, not arguments.
	unset = lazyregexp.New(`(?i)\b(?:set|unset|export|(?:not |un)(?:configured|defined))\b`)
	// constant matches a name in capitals, as of most variables. After "..." there is only the end of a name.
	constant = lazyregexp.New(`(?:^|[^.\w]|(?:^|[^.])\.)([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)\b`)
	// explicit matches a name that the text calls a variable.
	explicit    = lazyregexp.New(`(?:KeyError: |(?i:env(?:ironment)?[ _]?var(?:iable)?s?):?\s+)["'\x60$]*([A-Z][A-Z0-9_]+)\b|\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["'\x60)]* (?i:env(?:ironment)?[ _]?var)`)
	environment = lazyregexp.New(`(?i)\benv(?:ironment)?\b`)
	// field matches a missing field of a settings class as pydantic reports it; pydantic-settings reads it from the
	// variable of that name, in any case.
	field = lazyregexp.New(`(?m)^([a-z]\w*)\r?\n\s+Field required \[type=missing`)
	// begins matches the prefix that a value must have.
	begins = lazyregexp.New(`(?i)(?:start|begin)(?:s|ning|ing)? with:? ["'\x60]?([A-Za-z0-9][\w-]{0,15}[_-])`)
)

// variablesIn returns the variables that a text says are missing.
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
		add(found[1] + found[2])
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

// meansVariables reports whether a text is about variables: it mentions the environment, or says that one of them is
// not set. Names in capitals may be arguments, too.
func meansVariables(text string, names []string) bool {
	return environment.MatchString(text) || slices.ContainsFunc(names, func(name string) bool {
		before, after, _ := strings.Cut(text, name)
		return decoy.Secret(name) || unset.MatchString(before[max(0, len(before)-nearName):]) || unset.MatchString(after[:min(len(after), nearName)])
	})
}

// nearName is the maximum distance between a name and a statement about it, in bytes.
const nearName = 24

// prefixOf returns the prefix that the value of a variable must have according to a text; "" for none.
func prefixOf(name, text string) string {
	for line := range strings.Lines(text) {
		if found := begins.FindStringSubmatch(line); found != nil && strings.Contains(line, name) {
			return found[1]
		}
	}
	return ""
}

// given returns the variables that any run got because the server asked for them.
func given(runs []observation) (all []decoy.Var) {
	for _, o := range runs {
		if o.launched == nil {
			all = append(all, o.how.asked...)
		}
	}
	return all
}

// namesOf returns the names of variables without duplicates, sorted.
func namesOf(variables []decoy.Var) (all []string) {
	for _, v := range variables {
		all = append(all, v.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// credentials adds the gap about unknown behavior with real secrets.
func (c *collection) credentials(runs []observation) {
	names := namesOf(given(connected(runs)))
	c.add("MissingVariables", len(names), "variables that the server asked for had plausible values of the audit's in place of real ones, "+
		"and what it does with those is not known: "+strings.Join(names, ", "))
}

// environment returns the variables of a launch, which override the server's of the same names.
func (how launch) environment(plan Plan) []string {
	return append(how.identity.unless(set(plan.Env)), told(plan.Names, settings(how.asked))...)
}

// told returns variables or arguments of the audit with the names that the server sees.
func told(names *pseudonym.Names, all []string) []string {
	changed := slices.Clone(all)
	for i, each := range all {
		changed[i] = names.Out(each)
	}
	return changed
}

// settings returns variables as "NAME=value".
func settings(variables []decoy.Var) (all []string) {
	for _, v := range variables {
		all = append(all, v.Name+"="+v.Value)
	}
	return all
}

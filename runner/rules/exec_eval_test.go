package rules

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
)

const shellText = `{"format":"image$(./marlow-run-c9)';./marlow-run-c9;:'"}`

func toolSaid(kind report.OutputKind, arguments, text string) report.Output {
	return report.Output{Kind: kind, Capability: call.Capability, Method: "tools/call", Arguments: arguments, Text: text}
}

func answering(s server, outputs ...report.Output) Input {
	in := input(s)
	in.Outputs = Said("", outputs...)
	return in
}

// What an interpreter in the server says of an argument.
func TestEvaluated(t *testing.T) {
	const image = `{"format":"image"}`
	name, token := toolSaid(report.OutputResult, image, "Format error: image is not defined\n\n{}"), toolSaid(report.OutputResult, shellText, "Format error: Unexpected token '.'\n\n{}")
	expressive := server{tools: []string{"format_note: Evaluates an expression."}}
	for what, tc := range map[string]struct {
		in   Input
		want string
	}{
		"JavaScript": {answering(silent, name, token), `EXEC-004 High: Tool format_note evaluated a text of an argument as code: for "{"format":"image"}" it answered "Format error: image is not defined"`},
		"Python": {answering(silent, toolSaid(report.OutputError, image, "Error: name 'image' is not defined"),
			toolSaid(report.OutputError, shellText, "Error: invalid syntax (<string>, line 1)")), "EXEC-004 High"},
		"a name alone":                 {answering(silent, name), ""},
		"a syntax error alone":         {answering(silent, token), ""},
		"a tool that says so":          {answering(expressive, name, token), ""},
		"a server that is called so":   {answering(server{name: "code-exec", tools: silent.tools}, name, token), "EXEC-004 High"},
		"a name that was not given":    {answering(silent, toolSaid(report.OutputError, image, "Error: config is not defined"), token), ""},
		"a look-up that fails":         {answering(silent, name, toolSaid(report.OutputError, shellText, "Error: image$(./marlow-run-c9) is not defined")), ""},
		"a word about something":       {answering(silent, toolSaid(report.OutputError, image, "The template image is not defined"), token), ""},
		"no JSON":                      {answering(silent, name, toolSaid(report.OutputError, shellText, `Error: Unexpected token 'i', "image$(./m"... is not valid JSON`)), ""},
		"no JSON, as it was said":      {answering(silent, name, toolSaid(report.OutputError, shellText, "Error: Unexpected token i in JSON at position 0")), ""},
		"what the server notifies":     {answering(silent, toolSaid(report.OutputNotification, image, "image is not defined"), token), ""},
		"arguments that are not whole": {answering(silent, toolSaid(report.OutputError, `{"format":"ima`, "Error: image is not defined"), token), ""},
	} {
		t.Run(what, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}

// TestSiftedCode: who refuses every expression that calls something evaluates none that harms.
func TestSiftedCode(t *testing.T) {
	for answer, want := range map[string]string{
		"ValueError: only comparisons are allowed":              "",
		"NameError: name 'globalThis' is not defined":           "EXEC-004 High",
		"SyntaxError: invalid syntax (<string>, line 1)":        "EXEC-004 High",
		"TypeError: 'builtin_function' object is not a mapping": "EXEC-004 High",
	} {
		in := answering(silent, toolSaid(report.OutputError, `{"format":"image"}`, "NameError: name 'image' is not defined"),
			toolSaid(report.OutputError, shellText, "SyntaxError: invalid syntax (<string>, line 1)"))
		for n, said := range []string{"SyntaxError: invalid syntax (<string>, line 1)", "ValueError: only comparisons are allowed", answer} {
			in.Attack.Attempts = append(in.Attack.Attempts, attack.Attempt{Of: call.Capability, Family: attack.Code, Form: "as an expression of Python", File: n + 1, Answered: true, Answer: said})
		}
		if strings.HasPrefix(answer, "SyntaxError") {
			in.Attack.Attempts = in.Attack.Attempts[:1]
		}
		t.Run(answer, func(t *testing.T) { expect(t, in, want) })
	}
}

var _ = prove(map[string]proof{
	"MCPA-EXEC-004": {
		finds:  []Input{answering(silent, toolSaid(report.OutputResult, `{"a":"b1"}`, "b1 is not defined"), toolSaid(report.OutputResult, shellText, "SyntaxError: Unexpected token '.'"))},
		spares: []Input{answering(silent, toolSaid(report.OutputResult, `{"a":"b1"}`, "b1 is not defined"), toolSaid(report.OutputResult, shellText, "stored"))},
	},
})

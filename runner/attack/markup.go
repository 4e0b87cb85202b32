package attack

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// markup includes the file PATH in the syntax of each common document language.
const markup = `<img src="PATH"><link rel="stylesheet" href="PATH"><iframe src="PATH"></iframe><style>@import url("PATH");</style><!--#include file="PATH" -->` +
	"\n![note](PATH)\n\n\\input{PATH}\n\n{{include: PATH}}\n\n{% include \"PATH\" %}\n\n.. include:: PATH\n\ninclude::PATH[]\n\n!include PATH\n"

// markupForms are documents that include a file outside. A server that renders them may disclose any file.
var markupForms = []form{
	naming("in a document, as an absolute path", markup, func(to string) string { return to }),
	naming(`in a document, by ".."`, markup, func(to string) string { return inputs.Up + to[1:] }),
	naming("in a document, as the URL of a file", markup, func(to string) string { return "file://" + to }),
	naming("by XInclude", `<note xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="PATH" parse="text"/></note>`, func(to string) string { return to }),
	naming("in a picture of SVG", `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="PATH"/></svg>`,
		func(to string) string { return "file://" + to }),
}

func naming(name, text string, write func(to string) string) form {
	return form{name: name, markup: true, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + strings.ReplaceAll(text, "PATH", write(file(number))) + f.behind
	}}
}

// namedBehind is for programs that take a text, and read it from a file where it begins with "@" (curl, http, jq).
var namedBehind = naming(`behind "@", as the name of a file`, "@PATH", func(to string) string { return to })

// maxMarkup bounds these attempts on one target.
const maxMarkup = 10

// ofMarkup matches names and descriptions of arguments that take such a document.
var ofMarkup = lazyregexp.New(`(?i)\b(?:x?html?5?|markdown|mdx?|(?:la|xe)?tex|svg|xml|css|rst|restructuredtext|asciidoc|markup|templates?|plantuml|mermaid)\b`)

// markupSteps returns the attempts of family Path on arguments that take a document, or a text for a program.
func markupSteps(fields []field, seen Seen) (all []step) {
	for _, f := range fields {
		if seen.Programs && f.contains(seen) && len(all) < maxMarkup/2 {
			all = append(all, step{family: Path, form: namedBehind, field: f})
		}
	}
	for _, form := range markupForms {
		for _, f := range fields {
			if f.contains(seen) && f.variable == "" && f.speaksOf(ofMarkup) && len(all) < maxMarkup {
				all = append(all, step{family: Path, form: form, field: f})
			}
		}
	}
	return all
}

// contains reports whether a value is a text of its own, and no path.
func (f field) contains(seen Seen) bool { return f.text && !f.next && !f.item && !f.leads(seen) }

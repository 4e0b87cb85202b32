package sources

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// methods has those of JavaScript's types, with their type. They are called, so they are no fields.
var methods = func() map[string]string {
	known := map[string]string{}
	for kind, names := range map[string]string{
		"array": "map filter forEach length slice join find findIndex some every reduce sort flatMap flat push concat includes entries " +
			"indexOf reverse at splice pop shift unshift",
		"string": "split toLowerCase toUpperCase trim replace replaceAll startsWith endsWith substring substr match localeCompare charAt padEnd padStart repeat",
		"number": "toFixed toLocaleString toPrecision",
		"object": "hasOwnProperty",
	} {
		for _, name := range strings.Fields(names) {
			known[name] = kind
		}
	}
	return known
}()

// ignored are globals and members of clients, libraries and errors, which say nothing about an answer. An answer with
// an error would be a refusal.
var ignored = words.SetOf(strings.Fields(`
		console process Math JSON Object Array String Number Boolean Promise Symbol Buffer Reflect Date RegExp Error Map Set exports module require import
		global globalThis window document z zod path fs os util crypto axios fetch http https url env argv stdin stdout stderr prototype constructor default
		then catch finally bind apply call toString valueOf toJSON toISOString getTime log warn info debug trace error errors err exception stack
		error_message errorMessage error_description errorCode error_code statusCode statusText headers isError __esModule __proto__ this self super
		parse safeParse stringify describe optional nullable min max searchParams append params args arguments options config request req`)...)

package sources

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// maxVariables bounds the variables that are kept, by number.
const maxVariables = 128

const variable = `([A-Z][A-Z0-9_]{2,63})`

// Patterns by which a program reads a variable of its environment, or a client's configuration sets one.
var (
	// "process.env.ACME_KEY", "process.env['ACME_KEY']", "Bun.env.X", "import.meta.env.X".
	member = lazyregexp.New(`\benv(?:\??\.|(?:\?\.)?\[\s*["'\x60])` + variable + `\b`)
	// "os.getenv('ACME_KEY')", "os.environ['ACME_KEY']", "Deno.env.get('ACME_KEY')", "envvar='ACME_KEY'".
	named = lazyregexp.New(`\b(?:getenv\(|environ(?:\.get\(|\.pop\(|\.setdefault\(|\[)|env\.get\(|[Gg]et_?[Ee]nv\w*\(|envvar=|validation_alias=|alias=)\s*[rbu]?["'\x60]` + variable + `["'\x60]`)
	// "const { ACME_KEY, ACME_URL = x } = process.env".
	taken = lazyregexp.New(`\{([^{}]{1,1000})\}\s*=\s*(?:process|Bun|import\.meta)\.env\b`)
	// "env": {"ACME_KEY": "..."}, as in a client's configuration or smithery.yaml.
	configured = lazyregexp.New(`\benv["']?\s*:\s*\{([^{}]{1,1000})\}`)
	key        = lazyregexp.New(`(?:^|[\s,{"'\x60])` + variable + `\b`)
	setting    = lazyregexp.New(`(?:^|[\s,{"'])` + variable + `["']?\s*:`)
)

// Variables returns the names of the environment variables that the text of a program reads, in order and without
// duplicates, up to the bound.
func Variables(text string) (names []string) {
	for _, pattern := range []*lazyregexp.Regexp{member, named} {
		for _, match := range pattern.FindAllStringSubmatch(text, 8*maxVariables) {
			names = appendNew(names, match[1])
		}
	}
	for _, match := range taken.FindAllStringSubmatch(text, maxVariables) {
		for _, each := range key.FindAllStringSubmatch(match[1], maxVariables) {
			names = appendNew(names, each[1])
		}
	}
	return names
}

// Configured returns the names of the variables that a client's configuration sets in a text, such as an example in a
// README.
func Configured(text string) (names []string) {
	for _, match := range configured.FindAllStringSubmatch(text, maxVariables) {
		for _, each := range setting.FindAllStringSubmatch(match[1], maxVariables) {
			names = appendNew(names, each[1])
		}
	}
	return names
}

func appendNew(names []string, name string) []string {
	if len(names) >= maxVariables || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

package attack

import (
	"regexp"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// expression matches one of a URI template (RFC 6570).
var expression = lazyregexp.New(`\{([^{}]*)\}`)

// variables returns the fields of an honest URI at the variables of its template, except
// those of a query or a fragment; none if the template does not match.
func variables(template, uri string) (all []field) {
	var names []string
	pattern, last := strings.Builder{}, 0
	for _, at := range expression.FindAllStringSubmatchIndex(template, maxFields) {
		pattern.WriteString(regexp.QuoteMeta(template[last:at[0]]))
		name := template[at[2]:at[3]]
		if last = at[1]; strings.HasPrefix(name, "?") || strings.HasPrefix(name, "&") || strings.HasPrefix(name, "#") {
			pattern.WriteString(`(?:[?&#].*)?`)
			continue
		}
		pattern.WriteString("(.+?)")
		names = append(names, strings.Trim(name, "+*"))
	}
	whole, err := regexp.Compile("(?s)^" + pattern.String() + regexp.QuoteMeta(template[last:]) + "$")
	if err != nil {
		return nil
	}
	found := whole.FindStringSubmatchIndex(uri)
	for i, name := range names {
		if found != nil {
			from, to := found[2*i+2], found[2*i+3]
			all = append(all, field{name: "uri", steps: []any{"uri"}, value: uri, text: true, variable: name, before: uri[:from], behind: uri[to:]})
		}
	}
	return all
}

// fixed returns the part of a resource's URI that is attacked: what follows the last slash, or the whole path of a file.
func fixed(uri string) []field {
	begin := strings.LastIndexByte(uri, '/') + 1
	if path, isFile := strings.CutPrefix(uri, "file://"); isFile {
		begin = len(uri) - len(path)
	}
	if begin == len(uri) || !strings.Contains(uri, "://") {
		return nil
	}
	return []field{{name: "uri", steps: []any{"uri"}, value: uri, text: true, variable: uri, before: uri[:begin]}}
}

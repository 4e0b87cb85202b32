package inputs

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"

	"github.com/yosida95/uritemplate/v3"
)

// template is a URI template (RFC 6570).
type template struct {
	parsed *uritemplate.Template
	// form finds the values of the variables in a URI that the template makes;
	// names are those of its groups.
	form  *regexp.Regexp
	names []string
}

// expressions match what stands in braces: an operator and variables.
var expressions = lazyregexp.New(`\{([+#./;?&]?)([^{}]*)\}`)

// NewTemplateForm is for the uriTemplate of a resource template (RFC 6570). The
// variables of a query are optional. It fails for a template that is
// malformed or longer than 4096 bytes.
func NewTemplateForm(text string, o Options) (*Form, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("expand template: %d bytes", len(text))
	}
	parsed, err := uritemplate.New(text)
	if err != nil {
		return nil, fmt.Errorf("expand template: %w", err)
	}
	optional := map[string]bool{}
	for _, found := range expressions.FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Split(found[2], ",") {
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "*"), ":")
			optional[name] = found[1] == "?" || found[1] == "&"
		}
	}
	properties, required := map[string]any{}, []any{}
	for _, name := range parsed.Varnames()[:min(len(parsed.Varnames()), maxFields)] {
		properties[name] = map[string]any{"type": "string", "minLength": json.Number("1")}
		if !optional[name] {
			required = append(required, name)
		}
	}
	f := newForm(map[string]any{"properties": properties, "required": required}, o)
	f.template = &template{parsed: parsed}
	f.template.invert(text)
	return f, nil
}

// invert makes the form of a template of simple expressions.
func (t *template) invert(text string) {
	var form strings.Builder
	form.WriteString("^")
	end := 0
	for _, at := range expressions.FindAllStringSubmatchIndex(text, -1) {
		operator, name := text[at[2]:at[3]], text[at[4]:at[5]]
		if strings.ContainsAny(name, ",:*") || operator != "" && operator != "+" {
			return
		}
		form.WriteString(regexp.QuoteMeta(text[end:at[0]]))
		form.WriteString(map[string]string{"": "([^/?#]{1,256})", "+": "(.{1,256})"}[operator])
		t.names = append(t.names, name)
		end = at[1]
	}
	form.WriteString(regexp.QuoteMeta(text[end:]) + "$")
	if len(t.names) <= 8 {
		t.form, _ = regexp.Compile(form.String())
	}
}

// offers are the values of a variable in the URIs that the pool has.
func (t *template) offers(pool *Pool, name string) (values []candidate) {
	group := -1
	if t != nil && t.form != nil && pool != nil {
		group = slices.Index(t.names, name)
	}
	if group < 0 {
		return nil
	}
	for _, e := range pool.entries {
		if e.kind != uri || len(values) == maxCandidates {
			continue
		}
		if found := t.form.FindStringSubmatch(e.value); found != nil {
			if value, err := url.PathUnescape(found[group+1]); err == nil {
				values = append(values, candidate{value: value, source: e.source})
			}
		}
	}
	return values
}

// arguments returns the arguments of resources/read.
func (t *template) arguments(values map[string]any) json.RawMessage {
	given := uritemplate.Values{}
	for name, value := range values {
		text, ok := value.(string)
		if !ok {
			text = canonical(value)
		}
		given.Set(name, uritemplate.String(text))
	}
	uri, err := t.parsed.Expand(given)
	if err != nil {
		uri = t.parsed.Raw()
	}
	return json.RawMessage(canonical(map[string]string{"uri": uri}))
}

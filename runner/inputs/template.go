package inputs

import (
	"fmt"

	"github.com/yosida95/uritemplate/v3"
)

// Expand fills the variables of a resource template (RFC 6570). The error is
// that of a template that is malformed or longer than 4096 bytes.
func Expand(template string, o Options) (string, error) {
	if len(template) > maxLength {
		return "", fmt.Errorf("expand template: %d bytes", len(template))
	}
	parsed, err := uritemplate.New(template)
	if err != nil {
		return "", fmt.Errorf("expand template: %w", err)
	}
	g := generator{options: o, budget: budget}
	values := uritemplate.Values{}
	for _, name := range parsed.Varnames() {
		values.Set(name, uritemplate.String(g.text(nil, name)))
	}
	uri, err := parsed.Expand(values)
	if err != nil {
		return "", fmt.Errorf("expand template: %w", err)
	}
	return uri, nil
}

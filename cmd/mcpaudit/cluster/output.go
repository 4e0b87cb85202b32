package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/terminal"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// oneOf checks the value of -o.
func oneOf(output string, choices ...string) error {
	if !slices.Contains(choices, output) {
		return fmt.Errorf("--output %q: it is %s or %s", output, strings.Join(choices[:len(choices)-1], ", "), choices[len(choices)-1])
	}
	return nil
}

// encode writes a value as JSON or YAML. On a terminal what could be taken for an
// order is escaped; a program gets every byte.
func (s *session) encode(format string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	text = append(text, '\n')
	if format == "yaml" && err == nil {
		text, err = yaml.JSONToYAML(visible(text))
	}
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if terminal.Is(s.Stdout) {
		text = terminal.Lines(text)
	}
	_, err = s.Stdout.Write(text)
	return err
}

// visible writes in JSON's own escapes what is not visible: in YAML some of it would
// be an error.
func visible(text []byte) []byte {
	var all []byte
	for _, r := range string(text) {
		if r == '\n' || render.Visible(r) {
			all = utf8.AppendRune(all, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			all = fmt.Appendf(all, `\u%04x`, unit)
		}
	}
	return all
}

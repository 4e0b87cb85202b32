package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
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
		text, err = yaml.JSONToYAML(render.Readable(text))
	}
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return s.write(text)
}

// format writes a report in one of render.Formats.
func (s *session) format(f render.Format, r report.Report) error {
	var text bytes.Buffer
	if err := f.Write(&text, r); err != nil {
		return err
	}
	return s.write(text.Bytes())
}

func (s *session) write(text []byte) error {
	if terminal.Is(s.Stdout) {
		text = terminal.Lines(text)
	}
	_, err := s.Stdout.Write(text)
	return err
}

// outputs are the values of show's -o.
func outputs() []string {
	return slices.Insert(render.Outputs(), 1, "wide")
}

package cluster

import (
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

func (s *session) encode(format string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	text = append(text, '\n')
	if format == "yaml" && err == nil {
		text, err = yaml.JSONToYAML(render.Readable(text))
	}
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return cli.Write(s.stdout(), text)
}

// outputs lists the values of show's -o.
func outputs() []string {
	return slices.Insert(render.Outputs(), 1, "wide")
}

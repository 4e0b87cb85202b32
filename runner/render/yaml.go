package render

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// YAML writes the report with the names and the values of JSON.
func YAML(w io.Writer, r report.Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		b, err = yaml.JSONToYAML(Readable(b))
	}
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Readable escapes the invisible characters of a JSON text: some would be errors in YAML.
func Readable(text []byte) []byte {
	var all []byte
	for _, r := range string(text) {
		if r == '\n' || Visible(r) {
			all = utf8.AppendRune(all, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			all = fmt.Appendf(all, `\u%04x`, unit)
		}
	}
	return all
}

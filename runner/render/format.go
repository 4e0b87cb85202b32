package render

import (
	"io"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Format is a report's form for programs, and for pages that show results. The table for
// terminals is not one: see Table.
type Format struct {
	// Name is the value of -o.
	Name string
	// Write writes the whole report, and returns the writer's errors.
	Write func(io.Writer, report.Report) error
	// Type is the media type; empty for application/octet-stream.
	Type string
}

// Formats lists all formats, in the order of the help text.
var Formats = []Format{
	{Name: "json", Write: JSON, Type: "application/json"},
	{Name: "yaml", Write: YAML, Type: "application/yaml"},                     // RFC 9512
	{Name: "markdown", Write: Markdown, Type: "text/markdown; charset=utf-8"}, // RFC 7763
	{Name: "sarif", Write: SARIF, Type: "application/sarif+json"},
	{Name: "junit", Write: JUnit, Type: "application/xml"},
	{Name: "html", Write: HTML, Type: "text/html; charset=utf-8"},
	{Name: "badge", Write: Badge, Type: "image/svg+xml"},
}

// FormatNamed returns the format of a name; false if there is none.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Outputs returns the values of -o: table, and the names of the formats.
func Outputs() []string {
	names := []string{"table"}
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

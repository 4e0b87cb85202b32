package render

import (
	"io"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Format is a form that a report is written in for programs, and for places where
// people look at results. The table for terminals is not one: see Table.
type Format struct {
	// Name is the value of -o.
	Name string
	// Write writes the whole report; its errors are those of the writer.
	Write func(io.Writer, report.Report) error
	// Type is the media type; empty for application/octet-stream.
	Type string
}

// Formats are all of them, in the order in which help names them.
var Formats = []Format{
	{Name: "json", Write: JSON, Type: "application/json"},
	{Name: "yaml", Write: YAML, Type: "application/yaml"},                     // RFC 9512
	{Name: "markdown", Write: Markdown, Type: "text/markdown; charset=utf-8"}, // RFC 7763
	{Name: "sarif", Write: SARIF, Type: "application/sarif+json"},
	{Name: "junit", Write: JUnit, Type: "application/xml"},
	{Name: "html", Write: HTML, Type: "text/html; charset=utf-8"},
	{Name: "badge", Write: Badge, Type: "image/svg+xml"},
}

// FormatNamed is the format of that name; false when there is none.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Outputs are the values of -o: table, and the names of the formats.
func Outputs() []string {
	names := []string{"table"}
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

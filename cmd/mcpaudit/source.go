package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/least"
)

// readFile reads a file of at most limit bytes, which may be hostile; "-" is standard input.
func readFile(name string, limit int64) ([]byte, error) {
	in := os.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is larger than %d KiB", name, limit>>10)
	}
	return text, err
}

// readFlag reads and parses the file of a flag.
func readFlag[T any](flag, name string, limit int64, parse func(text []byte) (T, error)) (value T, err error) {
	text, err := readFile(name, limit)
	if err != nil {
		return value, fmt.Errorf("%s: %w", flag, err)
	}
	if value, err = parse(text); err != nil {
		return value, fmt.Errorf("%s %s: %w", flag, name, err)
	}
	return value, nil
}

// maxSource bounds a report in bytes, including the API object around it.
const maxSource = 4 << 20

// readSource reads a report of --out-dir or -o json, or an MCPAuditReport as JSON, which also
// names the image.
func readSource(name string) (least.Source, error) {
	text, err := readFile(name, maxSource)
	if err != nil {
		return least.Source{}, fmt.Errorf("read report: %w", err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return least.Source{}, fmt.Errorf("%s is empty; want the report.json of an audit, or an MCPAuditReport", name)
	}
	var object struct {
		Kind string          `json:"kind"`
		Spec json.RawMessage `json:"spec"`
	}
	var inputs struct {
		Audit struct {
			Image       string `json:"image"`
			ImageDigest string `json:"imageDigest"`
		} `json:"audit"`
	}
	if json.Unmarshal(text, &object) == nil && object.Kind == "MCPAuditReport" {
		text = object.Spec
		if err := json.Unmarshal(text, &inputs); err != nil {
			return least.Source{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	var compact bytes.Buffer
	if json.Compact(&compact, text) == nil {
		text = compact.Bytes()
	}
	r, err := report.Decode(text)
	if err != nil {
		return least.Source{}, fmt.Errorf("%s: %w; want the report.json of an audit, or an MCPAuditReport", name, err)
	}
	return least.Source{Report: r, Image: inputs.Audit.Image, ImageDigest: inputs.Audit.ImageDigest}, nil
}

func loadReport(name string) (report.Report, error) {
	source, err := readSource(name)
	return source.Report, err
}

// readReport reads a report with a complete manifest.
func readReport(name string) (report.Report, error) {
	r, err := loadReport(name)
	if err == nil && r.ManifestDigest == "" {
		err = fmt.Errorf("%s: the audit did not list the whole manifest; want the report of one that did", name)
	}
	return r, err
}

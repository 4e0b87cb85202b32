package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/least"
)

// making are the flags of policy.
type making struct {
	least.Options
	kind   string
	outDir string
	help   bool
}

// allKinds is the --type that makes one of each.
const allKinds = "all"

func (o *making) flags() *pflag.FlagSet {
	f := flagSet("policy")
	f.StringVar(&o.kind, "type", "securitycontext", kindNames()+" (with --out-dir)")
	f.StringVar(&o.outDir, "out-dir", "", "directory to write the policies to, each to a file of its own")
	f.StringVar(&o.Name, "name", "", "name of the objects and of the workload (default: what the server calls itself)")
	f.StringVar(&o.Container, "container", "", "the server's container in the Pod (default: --name)")
	f.StringVar(&o.Workload, "workload", "Deployment", "what the securityContext is a patch of: Deployment or Pod")
	f.StringVar(&o.Selector, "selector", "", "the label of the Pods, key=value (default: app.kubernetes.io/name=NAME)")
	f.StringVar(&o.LocalhostProfile, "localhost-profile", "", "the seccomp profile below the kubelet's seccomp directory (default: mcpaudit/NAME.json)")
	f.BoolVar(&o.AllowIncomplete, "allow-incomplete", false, "also of an audit that did not see everything: what it did not see is forbidden")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// policy is the command of that name: it makes policies of a report.
func policy(_ context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	var o making
	f := o.flags()
	switch err := f.Parse(args); {
	case err != nil:
		return exitError, misused(f, err)
	case o.help:
		return 0, explainCommand(stdout, "policy")
	case f.NArg() != 1:
		return exitError, errors.New("give one report: mcpaudit policy --type seccomp REPORT.json, or - for stdin")
	}
	kinds := least.Kinds
	if o.kind != allKinds {
		k, ok := least.KindNamed(o.kind)
		if !ok {
			return exitError, fmt.Errorf("--type %q: it is one of %s", o.kind, kindNames())
		}
		kinds = []least.Kind{k}
	} else if o.outDir == "" {
		return exitError, errors.New("--type all: give --out-dir: they are several files")
	}
	source, err := readSource(f.Arg(0))
	if err != nil {
		return exitError, err
	}
	return o.make(source, kinds, stdout, stderr)
}

// make writes the policies, and what they leave out to stderr: whoever pipes them on
// would not see it.
func (o *making) make(source least.Source, kinds []least.Kind, stdout, stderr io.Writer) (int, error) {
	said := map[string]bool{}
	for _, k := range kinds {
		made, err := least.Generate(source, k, o.Options)
		if err != nil {
			return exitError, err
		}
		for _, note := range made.Notes {
			if !said[note] {
				said[note] = true
				_, _ = fmt.Fprintln(stderr, "mcpaudit:", note)
			}
		}
		if o.outDir == "" {
			if _, err := io.WriteString(stdout, made.Text); err != nil {
				return exitError, err
			}
			continue
		}
		if err := os.MkdirAll(o.outDir, 0o755); err != nil {
			return exitError, fmt.Errorf("--out-dir: %w", err)
		}
		if err := os.WriteFile(filepath.Join(o.outDir, k.File), []byte(made.Text), 0o644); err != nil {
			return exitError, fmt.Errorf("--out-dir: %w", err)
		}
	}
	return 0, nil
}

// policies are the kinds, for the help.
func policies() string {
	var text strings.Builder
	text.WriteString("\nUnder it the server can do what it was seen to do, and little else.\n\nTypes:\n")
	for _, k := range least.Kinds {
		fmt.Fprintf(&text, "  %-16s %s\n", k.Name, k.About)
	}
	return text.String()
}

func kindNames() string {
	var names []string
	for _, k := range least.Kinds {
		names = append(names, k.Name)
	}
	return strings.Join(append(names, allKinds), ", ")
}

// maxSource bounds what is read: an object of the API server with a report in it.
const maxSource = 4 << 20

// readSource reads a report of --out-dir or -o json, or an MCPAuditReport as kubectl
// get -o json prints it, which knows the image as well.
func readSource(name string) (least.Source, error) {
	in := io.Reader(os.Stdin)
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return least.Source{}, fmt.Errorf("read report: %w", err)
		}
		defer func() { _ = file.Close() }() // read only
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSource+1))
	switch {
	case err != nil:
		return least.Source{}, fmt.Errorf("read report: %w", err)
	case len(text) > maxSource:
		return least.Source{}, fmt.Errorf("%s: more than %d bytes: give the report.json of an audit", name, maxSource)
	case len(bytes.TrimSpace(text)) == 0:
		return least.Source{}, fmt.Errorf("%s is empty: give the report.json of an audit, or an MCPAuditReport", name)
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
		return least.Source{}, fmt.Errorf("%s: %w: give the report.json of an audit, or an MCPAuditReport", name, err)
	}
	return least.Source{Report: r, Image: inputs.Audit.Image, ImageDigest: inputs.Audit.ImageDigest}, nil
}

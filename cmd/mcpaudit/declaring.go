package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// declaring holds the flags that declare what the server may do. Only run has them, as remote
// servers are not traced.
type declaring struct {
	scope      string
	serverJSON string
}

func (o *declaring) flags(f *pflag.FlagSet) {
	cli.Path(f, &o.scope, "scope", "YAML or JSON file that declares what the server may do: egress, readPaths, writePaths, exec, listen")
	cli.Path(f, &o.serverJSON, "server-json", "the server's server.json of the MCP registry (default: the one next to its script, or that it was found by)")
}

// plan reads the files into p, whose Command must be set.
func (o *declaring) plan(p *audit.Plan) (err error) {
	if p.Scope, err = o.loadScope(); err != nil {
		return err
	}
	p.ServerJSON, err = o.loadServerJSON(p.Command)
	return err
}

// maxDeclared bounds --scope and --server-json in bytes, enough for lists of maximum length.
const maxDeclared = 256 << 10

// loadScope reads the lists of --scope; nil without the flag.
func (o *declaring) loadScope() (*report.DeclaredScope, error) {
	if o.scope == "" {
		return nil, nil
	}
	return readFlag("--scope", o.scope, maxDeclared, parseScope)
}

var errKeys = errors.New("want the keys egress, readPaths, writePaths, exec and listen, each with a list")

// parseScope parses the lists of spec.declaredScope of an MCPServerAudit.
func parseScope(text []byte) (*report.DeclaredScope, error) {
	var keys map[string]any
	if err := yaml.Unmarshal(text, &keys); err != nil || len(keys) == 0 {
		return nil, errKeys
	}
	for key, value := range keys {
		if !slices.Contains([]string{"egress", "readPaths", "writePaths", "exec", "listen"}, key) {
			return nil, fmt.Errorf("%q: %w", key, errKeys)
		}
		if value == nil { // an empty "egress:" means unset, although it looks like "nothing"
			return nil, fmt.Errorf("%s has no value: write [] to allow nothing, or remove it", key)
		}
	}
	var allow report.DeclaredScope
	if err := yaml.UnmarshalStrict(text, &allow); err != nil {
		return nil, fmt.Errorf("want each key once, with a list of strings: %w", err)
	}
	return &allow, scope.Check(&allow)
}

// loadServerJSON reads the file of --server-json, or else a valid one next to the server.
func (o *declaring) loadServerJSON(command []string) (json.RawMessage, error) {
	if o.serverJSON == "" {
		file := beside(command)
		if file == "" {
			return nil, nil
		}
		text, err := readFile(file, maxDeclared)
		if err != nil || scope.CheckServerJSON(text) != nil {
			return nil, nil //nolint:nilerr // unrelated files have that name
		}
		return text, nil
	}
	text, err := readFile(o.serverJSON, maxDeclared)
	if err == nil {
		err = scope.CheckServerJSON(text)
	}
	if err != nil {
		return nil, fmt.Errorf("--server-json %s: %w", o.serverJSON, err)
	}
	return text, nil
}

// roots are files that mark the top of a package.
var roots = []string{"package.json", "pyproject.toml", "go.mod", "Cargo.toml"}

// maxUp bounds the directories searched above the script.
const maxUp = 4

// beside returns the server.json in the directory of the command's script or above it, up to
// the top of the package; empty if there is none. The working directory is not searched: it may
// be of another project.
func beside(command []string) string {
	for _, argument := range command {
		script, err := filepath.EvalSymlinks(argument)
		if err != nil || !strings.ContainsRune(argument, filepath.Separator) && filepath.Ext(argument) == "" {
			continue
		}
		if !isFile(script) {
			continue
		}
		if script, err = filepath.Abs(script); err != nil {
			return ""
		}
		dir := filepath.Dir(script)
		for range maxUp {
			if file := filepath.Join(dir, "server.json"); isFile(file) {
				return file
			}
			for _, root := range roots {
				if isFile(filepath.Join(dir, root)) {
					return ""
				}
			}
			dir = filepath.Dir(dir)
		}
		return ""
	}
	return ""
}

// isFile reports whether name is a regular file; reading others could block.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

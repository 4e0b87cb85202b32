package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// declaring are the flags that say what the server may do. They are those of run:
// of a server that runs elsewhere nothing is seen that they could be held against.
type declaring struct {
	scope      string
	serverJSON string
}

func (o *declaring) flags(f *pflag.FlagSet) {
	f.StringVar(&o.scope, "scope", "", "file (YAML or JSON) with what the server may do: egress, readPaths, writePaths, exec, listen")
	f.StringVar(&o.serverJSON, "server-json", "", "the server's server.json of the MCP registry (default: the one beside its script)")
}

// plan reads the files; the command has been entered.
func (o *declaring) plan(p *audit.Plan) (err error) {
	if p.Scope, err = o.loadScope(); err != nil {
		return err
	}
	p.ServerJSON, err = o.loadServerJSON(p.Command)
	return err
}

// maxDeclared is the size of a file that declares something, in bytes; all that the
// bounds of the lists allow fits.
const maxDeclared = 256 << 10

// loadScope reads the lists of --scope; nil without the flag.
func (o *declaring) loadScope() (*report.DeclaredScope, error) {
	if o.scope == "" {
		return nil, nil
	}
	text, err := readSmall(o.scope)
	if err != nil {
		return nil, fmt.Errorf("--scope: %w", err)
	}
	allow, err := parseScope(text)
	if err != nil {
		return nil, fmt.Errorf("--scope %s: %s", o.scope, strings.Join(strings.Fields(err.Error()), " "))
	}
	return allow, nil
}

var errKeys = errors.New("its keys are egress, readPaths, writePaths, exec and listen, each with a list")

// parseScope reads what stands in spec.declaredScope of an MCPServerAudit.
func parseScope(text []byte) (*report.DeclaredScope, error) {
	var keys map[string]any
	if err := yaml.Unmarshal(text, &keys); err != nil || len(keys) == 0 {
		return nil, errKeys
	}
	for key, value := range keys {
		if !slices.Contains([]string{"egress", "readPaths", "writePaths", "exec", "listen"}, key) {
			return nil, fmt.Errorf("%q: %w", key, errKeys)
		}
		if value == nil { // "egress:" reads as if it allowed nothing, and says nothing
			return nil, fmt.Errorf("%s: write [] to allow nothing, or leave it out", key)
		}
	}
	var allow report.DeclaredScope
	if err := yaml.UnmarshalStrict(text, &allow); err != nil {
		return nil, fmt.Errorf("each key once, with a list of texts: %w", err)
	}
	return &allow, scope.Check(&allow)
}

// loadServerJSON reads the file of --server-json, or else what lies beside the
// server, if that is one.
func (o *declaring) loadServerJSON(command []string) (json.RawMessage, error) {
	if o.serverJSON == "" {
		text, err := readSmall(beside(command))
		if err != nil || scope.CheckServerJSON(text) != nil {
			return nil, nil //nolint:nilerr // many a file has that name
		}
		return text, nil
	}
	text, err := readSmall(o.serverJSON)
	if err == nil {
		err = scope.CheckServerJSON(text)
	}
	if err != nil {
		return nil, fmt.Errorf("--server-json %s: %w", o.serverJSON, err)
	}
	return text, nil
}

// roots are files that lie in the first directory of a package.
var roots = []string{"package.json", "pyproject.toml", "go.mod", "Cargo.toml"}

// maxUp is how many directories a script lies below its package at most.
const maxUp = 4

// beside returns where the server.json of a command would be: in the directory of its
// script, or in one above, up to the package's own. The working directory is not
// asked: it may be that of another project. Empty: nowhere.
func beside(command []string) string {
	for _, argument := range command {
		script, err := filepath.EvalSymlinks(argument)
		if err != nil || !strings.ContainsRune(argument, filepath.Separator) && filepath.Ext(argument) == "" {
			continue
		}
		if info, err := os.Stat(script); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if script, err = filepath.Abs(script); err != nil {
			return ""
		}
		dir := filepath.Dir(script)
		for range maxUp {
			if file := filepath.Join(dir, "server.json"); exists(file) {
				return file
			}
			for _, root := range roots {
				if exists(filepath.Join(dir, root)) {
					return ""
				}
			}
			dir = filepath.Dir(dir)
		}
		return ""
	}
	return ""
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// readSmall reads a regular file: whoever wrote it may be hostile.
func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxDeclared+1))
	if err == nil && len(text) > maxDeclared {
		err = fmt.Errorf("%s is larger than %d KiB", name, maxDeclared>>10)
	}
	return text, err
}

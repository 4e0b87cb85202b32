package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The longest that the installation of a server may take, and the session that
// lists what it has.
const (
	installTimeout = 5 * time.Minute
	listTimeout    = 90 * time.Second
)

// published is a server in a registry, at a version.
type published struct {
	// source for npm or go to install: name@version.
	source string
	// program is the one of its programs that is the server; "" where it has one.
	program string
	args    []string
	env     []string
	golang  bool
}

func npm(source string, args ...string) published { return published{source: source, args: args} }

func gomod(source string) published {
	return published{source: source, golang: true}
}

// with sets variables; keys that it wants are no good.
func (p published) with(env ...string) published {
	p.env = append(p.env, env...)
	return p
}

// runs says which of its programs is the server.
func (p published) runs(program string) published {
	p.program = program
	return p
}

// name is the package without its version.
func (p published) name() string { return p.source[:strings.LastIndex(p.source, "@")] }

// record is a server's manifest as it is kept: as it was listed, or why not.
type record struct {
	Source   string            `json:"source"`
	Command  []string          `json:"command,omitempty"`
	Manifest manifest.Manifest `json:"manifest,omitzero"`
	Missing  string            `json:"missing,omitempty"`
}

// collect is the record of a server, from the cache where it is there. One that
// could not be had is tried again next time.
func (p published) collect(ctx context.Context, cache string) (record, error) {
	key := strings.NewReplacer("/", "_", "@", "_").Replace(p.source)
	file := filepath.Join(cache, "manifests", key+".json")
	var r record
	if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &r) == nil && r.Missing == "" {
		return r, nil
	}
	r = record{Source: p.source}
	command, err := p.install(ctx, filepath.Join(cache, "servers", key))
	if err == nil {
		r.Command = command
		r.Manifest, err = list(ctx, command, p.env)
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		r.Missing = err.Error()
	}
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return r, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return r, err
	}
	return r, os.WriteFile(file, raw, 0o644)
}

// install brings the server into dir, once, and returns its command. No script of
// a package is run.
func (p published) install(ctx context.Context, dir string) ([]string, error) {
	done := filepath.Join(dir, ".installed")
	if _, err := os.Stat(done); err != nil {
		ctx, cancel := context.WithTimeout(ctx, installTimeout)
		defer cancel()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", p.source)
		if p.golang {
			cmd = exec.CommandContext(ctx, "go", "install", p.source)
			cmd.Env = append(os.Environ(), "GOBIN="+filepath.Join(dir, "bin"), "GOFLAGS=")
		}
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", cmd.Args[0], err, lastLine(said))
		}
		if err := os.WriteFile(done, nil, 0o644); err != nil {
			return nil, err
		}
	}
	if p.golang {
		name := p.name()
		return append([]string{filepath.Join(dir, "bin", name[strings.LastIndex(name, "/")+1:])}, p.args...), nil
	}
	script, err := p.script(filepath.Join(dir, "node_modules", p.name()))
	return append([]string{"node", script}, p.args...), err
}

// script is the file of the package's program, by its package.json.
func (p published) script(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	var description struct{ Bin json.RawMessage }
	if err := json.Unmarshal(raw, &description); err != nil {
		return "", err
	}
	var file string
	if json.Unmarshal(description.Bin, &file) == nil {
		return filepath.Join(dir, file), nil
	}
	var files map[string]string
	if json.Unmarshal(description.Bin, &files) != nil || len(files) == 0 {
		return "", errors.New("the package has no program")
	}
	if len(files) > 1 && p.program == "" {
		return "", fmt.Errorf("the package has several programs: %v", files)
	}
	for name, file := range files {
		if p.program == "" || name == p.program {
			return filepath.Join(dir, file), nil
		}
	}
	return "", fmt.Errorf("the package has no program %s", p.program)
}

// list asks a server in the sandbox for its manifest, and calls nothing.
func list(ctx context.Context, command, env []string) (manifest.Manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	traces, err := os.MkdirTemp("", "eval-")
	if err != nil {
		return manifest.Manifest{}, err
	}
	defer func() { _ = os.RemoveAll(traces) }()
	launcher, err := sandbox.New(command, traces)
	if err != nil {
		return manifest.Manifest{}, err
	}
	defer func() { _ = launcher.Close() }()
	launcher.Env = env
	process, err := launcher.Launch(ctx, audit.Start{})
	if err != nil {
		return manifest.Manifest{}, err
	}
	stdin, stdout, stderr := process.Streams()
	go func() { _ = process.Trace().Run(context.WithoutCancel(ctx), func(trace.Event) {}) }()
	go func() {
		for range process.Captures() { // which has to be taken
		}
	}()
	said, ended := audit.NewTail(1<<12), make(chan struct{})
	go func() {
		_, _ = io.Copy(said, stderr)
		close(ended)
	}()
	conn := probe.Conn{Stdin: stdin, Stdout: stdout, Exited: process.Exited()}
	result, err := probe.Run(ctx, conn, probe.Options{ListOnly: true, Idle: 100 * time.Millisecond, Grace: time.Second})
	process.Stop(context.WithoutCancel(ctx))
	<-ended
	_, _ = stdout.Close(), stderr.Close()
	if err == nil && !result.Listed && len(result.Manifest.Tools) == 0 {
		err = fmt.Errorf("%s: %s", result.Incomplete.Message, lastLine([]byte(said.String())))
	}
	return result.Manifest, err
}

// lastLine is the last line of what a program said that has anything in it.
func lastLine(said []byte) string {
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
	line := strings.ToValidUTF8(string(lines[len(lines)-1]), "?")
	return line[:min(len(line), 200)]
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/published"
)

// listTimeout bounds the session that lists a server's capabilities.
const listTimeout = 90 * time.Second

// record is a server's cached manifest, or the reason why there is none.
type record struct {
	Source   string            `json:"source"`
	Command  []string          `json:"command,omitempty"`
	Manifest manifest.Manifest `json:"manifest,omitzero"`
	Missing  string            `json:"missing,omitempty"`
}

// collect returns the record of a server, from the cache if it has a manifest there.
func collect(ctx context.Context, s published.Server, cache string) (record, error) {
	file := filepath.Join(cache, "manifests", s.Key()+".json")
	var r record
	if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &r) == nil && r.Missing == "" {
		return r, nil
	}
	r = record{Source: s.Source}
	command, env, err := s.Install(ctx, filepath.Join(cache, "servers"))
	if err == nil {
		r.Command = command
		r.Manifest, err = list(ctx, command, env)
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

// list lists the manifest of a server in the sandbox, and calls nothing.
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
		for range process.Captures() { // drained, or the sinkhole blocks
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
		err = fmt.Errorf("%s: %s", result.Incomplete.Message, published.LastLine([]byte(said.String())))
	}
	return result.Manifest, err
}

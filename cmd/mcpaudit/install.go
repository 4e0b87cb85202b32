package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// install installs the package that the plan's command names, if any, with a further requirement, and changes the
// command to its program. It returns a function that removes the installation.
func (o *options) install(ctx context.Context, plan *audit.Plan, besides string, progress cli.Progress) (remove func(), err error) {
	of, err := o.launched(plan.Command)
	switch {
	case err != nil:
		return nil, err
	case of == nil && o.sbom != "":
		return nil, errors.New("--sbom: only valid with npm:NAME, pypi:NAME or mcpb:FILE")
	case of == nil:
		return func() {}, nil
	}
	named, arguments := of.Package, of.Arguments
	if of.Registry == packages.MCPRegistry {
		progress.Step("ask for " + of.String())
		if named, err = o.resolve(ctx, of, plan); err != nil {
			return nil, err
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("install %s: %w", of, err)
	}
	of.Besides = besides
	dir := of.Dir(home)
	uninstall := func() { _ = os.RemoveAll(dir) } // a leftover in a cache is no failure
	defer func() {
		if err != nil {
			uninstall()
		}
	}()
	progress.Step("install " + of.String())
	installed, err := of.Install(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := o.writeSBOM(installed); err != nil {
		return nil, err
	}
	program, err := installed.Command(of.Program)
	if err != nil {
		return nil, err
	}
	if named.Registry == packages.NPM || named.Registry == packages.PyPI {
		named.Version = installed.Report.Version
	}
	plan.Env = slices.Concat(installed.Env, of.Env, plan.Env)
	plan.Secrets = slices.Concat(installed.Secrets, of.Secrets, plan.Secrets)
	plan.Named = append([]string{named.String()}, arguments...)
	plan.Command, plan.Package = append(program, of.Arguments...), &installed
	return uninstall, nil
}

// resolve replaces a server of the MCP registry by its package, and returns its name with the exact version.
func (o *options) resolve(ctx context.Context, of *packages.Launched, plan *audit.Plan) (packages.Package, error) {
	exact, resolved, err := of.Resolve(ctx, o.mcpRegistry)
	if err != nil {
		return exact, err
	}
	resolved.Program, resolved.Arguments = of.Program, append(resolved.Arguments, of.Arguments...)
	*of = resolved
	if text := of.ServerJSON; plan.ServerJSON == nil && len(text) <= maxDeclared && scope.CheckServerJSON(text) == nil {
		plan.ServerJSON = text
	}
	return exact, nil
}

func (o *options) writeSBOM(of packages.Installed) error {
	if o.sbom == "" {
		return nil
	}
	var text bytes.Buffer
	err := of.SBOM(&text)
	if err == nil {
		err = cli.Replace(o.sbom, text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("--sbom: %w", err)
	}
	return nil
}

// launched returns the package that a command names directly or by a launcher; nil for a local
// program.
func (o *options) launched(command []string) (*packages.Launched, error) {
	p, named, err := packages.Parse(command[0])
	switch {
	case err != nil:
		return nil, err
	case named:
		return &packages.Launched{Package: p, Program: o.program, Arguments: command[1:]}, nil
	case o.program != "":
		return nil, errors.New("--program: only valid with npm:NAME or pypi:NAME")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	if of, ok := packages.Launch(command, dir); ok {
		return &of, nil
	}
	return nil, nil
}

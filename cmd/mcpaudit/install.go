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
	"github.com/mcpaudit/mcpaudit/runner/image"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// provide gets the package or the image that the plan's command names, if any, and changes the command to its program. A
// package is installed with further requirements. It returns the image, if it is one, and a function that removes all of it.
func (o *options) provide(ctx context.Context, plan *audit.Plan, besides string, progress cli.Progress) (*image.Image, func(), error) {
	of, err := o.launched(plan.Command)
	switch {
	case err != nil:
		return nil, nil, err
	case of == nil && o.sbom != "":
		return nil, nil, errors.New("--sbom: only valid with npm:NAME, pypi:NAME or mcpb:FILE")
	case of == nil:
		return nil, func() {}, nil
	}
	named, arguments := of.Package, of.Arguments
	if of.Registry == packages.MCPRegistry {
		progress.Step("ask for " + of.String())
		if named, err = o.resolve(ctx, of, plan); err != nil {
			return nil, nil, err
		}
	}
	plan.Env, plan.Secrets = slices.Concat(of.Env, plan.Env), slices.Concat(of.Secrets, plan.Secrets)
	plan.Named = append([]string{named.String()}, arguments...)
	if of.Container != nil {
		return o.unpack(ctx, *of.Container, plan, progress)
	}
	of.Besides = besides
	remove, err := o.install(ctx, *of, plan, progress)
	if err != nil {
		return nil, nil, err
	}
	if named.Registry == packages.NPM || named.Registry == packages.PyPI {
		named.Version = plan.Package.Report.Version
		plan.Named[0] = named.String()
	}
	return nil, remove, nil
}

// install installs a package, and changes the plan's command to its program. It returns a function that removes the
// installation.
func (o *options) install(ctx context.Context, of packages.Launched, plan *audit.Plan, progress cli.Progress) (remove func(), err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("install %s: %w", of, err)
	}
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
	plan.Env, plan.Secrets = slices.Concat(installed.Env, plan.Env), slices.Concat(installed.Secrets, plan.Secrets)
	plan.Command, plan.Shipped, plan.Package = append(program, of.Arguments...), len(program), &installed
	return uninstall, nil
}

// resolve replaces a server of the MCP registry by its package, and returns its name with the exact version.
func (o *options) resolve(ctx context.Context, of *packages.Launched, plan *audit.Plan) (packages.Package, error) {
	exact, resolved, err := of.Resolve(ctx, o.mcpRegistry)
	if err != nil {
		return exact, err
	}
	resolved.Program, resolved.Arguments = of.Program, append(resolved.Arguments, of.Arguments...)
	if c := resolved.Container; c != nil {
		c.Arguments = resolved.Arguments
		if err := image.Encrypted(c.Image); err != nil {
			return exact, fmt.Errorf("%s: %w", exact, err)
		}
	}
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

// launched returns the package or the image that a command names directly or by a launcher; nil for a
// local program.
func (o *options) launched(command []string) (*packages.Launched, error) {
	p, named, err := packages.Parse(command[0])
	switch {
	case err != nil:
		return nil, err
	case named && p.Registry == packages.OCI:
		l := packages.Container{Image: p.Name, Arguments: ofServer(command[1:])}.Launched()
		return &l, nil
	case named:
		return &packages.Launched{Package: p, Program: o.program, Arguments: ofServer(command[1:])}, nil
	case o.program != "":
		return nil, errors.New("--program: only valid with npm:NAME or pypi:NAME")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	of, ok, err := packages.Launch(command, dir)
	if err != nil || !ok {
		return nil, err
	}
	return &of, nil
}

// ofServer returns the arguments that follow the name of a package, without a "--" that separates them from it.
func ofServer(arguments []string) []string {
	if len(arguments) > 0 && arguments[0] == "--" {
		return arguments[1:]
	}
	return arguments
}

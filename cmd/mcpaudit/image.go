package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/image"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/scratch"
)

// unpack gets the image of a container, and changes the plan's command to its program. It returns a function that removes
// what was unpacked.
func (o *options) unpack(ctx context.Context, c packages.Container, plan *audit.Plan, progress cli.Progress) (of *image.Image, remove func(), err error) {
	switch {
	case o.sbom != "":
		return nil, nil, errors.New("--sbom: not valid with an image; scanners of images make one")
	case o.program != "":
		return nil, nil, errors.New("--program: not valid with an image")
	}
	dir, err := scratch.New()
	if err != nil {
		return nil, nil, err
	}
	discard := func() { _ = dir.Remove() } // a leftover temporary file is no failure
	defer func() {
		if err != nil {
			discard()
		}
	}()
	progress.Step("get image " + c.Image)
	got, err := image.Get(ctx, c, filepath.Join(dir.Path, "image"), sandbox.Owner())
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range c.Env {
		passEnv(plan, entry)
	}
	plan.Command, plan.Shipped, plan.Package = got.Command, len(got.Command)-len(c.Arguments), &packages.Installed{Report: got.Package()}
	return &got, discard, nil
}

// passEnv adds a container's variable to the plan: "NAME=VALUE", or "NAME" for one of this process that the plan lacks. A
// secret is replaced by a decoy.
func passEnv(plan *audit.Plan, entry string) {
	name, value, set := strings.Cut(entry, "=")
	if !set && !has(plan, name) {
		value, set = os.LookupEnv(name)
	}
	switch {
	case !set || name == "HOME":
	case decoy.Secret(name) || holdsSecret(value):
		plan.Secrets = append(plan.Secrets, name)
	default:
		plan.Env = append(plan.Env, name+"="+value)
	}
}

// has reports whether the plan sets a variable.
func has(plan *audit.Plan, name string) bool {
	sets := func(entry string) bool { return strings.HasPrefix(entry, name+"=") }
	return slices.Contains(plan.Secrets, name) || slices.ContainsFunc(plan.Env, sets)
}

// newLauncher returns the launcher for a command, which an image may contain.
func newLauncher(of *image.Image, command []string, traceDir string) (*sandbox.Launcher, error) {
	if of != nil {
		return sandbox.NewForImage(*of, command, traceDir)
	}
	return sandbox.New(command, traceDir)
}

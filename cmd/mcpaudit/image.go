package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/image"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/scratch"
)

// unpack gets the image that the plan's command names, if any, and changes the command to its program. It returns nil if the
// command names no image, and a function that removes what was unpacked.
func (o *options) unpack(ctx context.Context, plan *audit.Plan, progress cli.Progress) (of *image.Image, remove func(), err error) {
	reference, named := strings.CutPrefix(plan.Command[0], image.Prefix)
	switch {
	case !named:
		return nil, func() {}, nil
	case o.sbom != "":
		return nil, nil, errors.New("--sbom: not valid with oci:IMAGE; scanners of images make one")
	case o.program != "":
		return nil, nil, errors.New("--program: not valid with oci:IMAGE")
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
	progress.Step("get image " + reference)
	got, err := image.Get(ctx, reference, filepath.Join(dir.Path, "image"), sandbox.Owner())
	if err != nil {
		return nil, nil, err
	}
	plan.Named = plan.Command
	if plan.Command, err = got.Command(plan.Command[1:]); err != nil {
		return nil, nil, err
	}
	plan.Package = &packages.Installed{Report: got.Package()}
	return &got, discard, nil
}

// newLauncher returns the launcher for a command, which an image may contain.
func newLauncher(of *image.Image, command []string, traceDir string) (*sandbox.Launcher, error) {
	if of != nil {
		return sandbox.NewForImage(*of, command, traceDir)
	}
	return sandbox.New(command, traceDir)
}

package main

import (
	"context"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
	"github.com/mcpaudit/mcpaudit/runner/faketime"
)

// origin is where the files in the product's images come from that are not ours.
type origin interface {
	// program adds a program with its libraries.
	program(ctx context.Context, t *oci.Tree, file string) error
	// clock adds libfaketime, which sets the clock of servers forward.
	clock(t *oci.Tree) error
	// authorities adds the certificates that servers and registries are trusted by.
	authorities(t *oci.Tree) error
}

// machine takes what is installed here: quick, and good for this architecture.
type machine struct{}

func (machine) program(ctx context.Context, t *oci.Tree, file string) error {
	t.CopyProgram(ctx, file)
	return nil
}

// Without it, audits say what they have not seen.
func (machine) clock(t *oci.Tree) error {
	if library, err := faketime.Find(); err == nil {
		t.Copy(library, library)
	}
	return nil
}

func (machine) authorities(t *oci.Tree) error {
	if exists(authorities) {
		t.Copy(authorities, authorities)
	}
	return nil
}

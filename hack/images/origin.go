package main

import (
	"context"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
)

// origin is where the files in the product's images come from that are not ours.
type origin interface {
	// program adds a program with its libraries.
	program(ctx context.Context, t *oci.Tree, file string) error
	// authorities adds the certificates that servers and registries are trusted by.
	authorities(t *oci.Tree) error
}

// machine takes what is installed here: quick, and good for this architecture.
type machine struct{}

func (machine) program(ctx context.Context, t *oci.Tree, file string) error {
	t.CopyProgram(ctx, file)
	return nil
}

func (machine) authorities(t *oci.Tree) error {
	if exists(authorities) {
		t.Copy(authorities, authorities)
	}
	return nil
}

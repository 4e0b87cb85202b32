package main

import (
	"context"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
)

// origin provides third-party files of the product's images.
type origin interface {
	// program adds a program with its libraries.
	program(ctx context.Context, t *oci.Tree, file string) error
	// authorities adds the certificates of trusted authorities.
	authorities(t *oci.Tree) error
}

// machine provides what is installed here: quick, but only for this architecture.
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

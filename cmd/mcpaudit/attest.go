package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// passwordVariable holds a key's password, as in cosign.
const passwordVariable = "COSIGN_PASSWORD"

type attesting struct{ image, key string }

// newAttest prints the in-toto statement of a report, in a DSSE envelope if a key is given.
func newAttest() *cobra.Command {
	var o attesting
	c := &cobra.Command{
		Use: "attest --image NAME@sha256:DIGEST REPORT.json", Short: "Sign the verdict of a report for an image (in-toto, DSSE)",
		Long: `Sign the verdict of a report for an image (in-toto, DSSE).

A statement is about an image by its digest, which the report of a local audit does not
have: --image names the image that contains what was audited.`,
		Args: cli.Args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.attest(args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&o.image, "image", "", "audited image, as NAME@sha256:DIGEST (required)")
	c.Flags().StringVar(&o.key, "key", "", "private key to sign with: PEM, or a cosign.key whose password is in $"+passwordVariable+"; unsigned without")
	cli.Require(c, "image")
	return c
}

func (o *attesting) attest(name string, stdout, stderr io.Writer) error {
	image, err := statement.ReadImage(o.image)
	if err != nil {
		return fmt.Errorf("--image: %w", err)
	}
	s, err := stated(name, image)
	if err != nil {
		return err
	}
	var out any = s
	if o.key != "" {
		if out, err = o.sign(s); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintln(stderr, "mcpaudit: the statement is unsigned, so nobody can rely on it; sign it with --key"); err != nil {
		return err
	}
	encoded, err := json.Marshal(out)
	if err != nil {
		return err
	}
	// The same JSON, without terminal control sequences.
	_, err = stdout.Write(append(render.Readable(encoded), '\n'))
	return err
}

// stated returns the statement for a report file.
func stated(name string, image statement.Image) (statement.Statement, error) {
	source, err := readSource(name)
	if err != nil {
		return statement.Statement{}, err
	}
	if source.Image != "" || source.ImageDigest != "" {
		return statement.Statement{}, fmt.Errorf("%s: the operator has made a statement of this audit: use the annotation mcpaudit.dev/attestation or mcpaudit.dev/statement of the MCPAuditReport", name)
	}
	s, err := statement.New(source.Report, image)
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (o *attesting) sign(s statement.Statement) (statement.Envelope, error) {
	content, err := os.ReadFile(o.key)
	if err != nil {
		return statement.Envelope{}, fmt.Errorf("--key: %w", err)
	}
	key, err := statement.ReadPrivateKey(content, []byte(os.Getenv(passwordVariable)))
	if errors.Is(err, statement.ErrPassword) {
		return statement.Envelope{}, fmt.Errorf("--key %s: %w; set %s", o.key, err, passwordVariable)
	}
	if err != nil {
		return statement.Envelope{}, fmt.Errorf("--key %s: %w", o.key, err)
	}
	return key.Sign(s)
}

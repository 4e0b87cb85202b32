package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// passwordVariable is where cosign, too, looks for the password of a key.
const passwordVariable = "COSIGN_PASSWORD"

// attesting are the flags of attest.
type attesting struct {
	image, key string
	help       bool
}

func (o *attesting) flags() *pflag.FlagSet {
	f := flagSet("attest")
	f.StringVar(&o.image, "image", "", "NAME@sha256:DIGEST of the image that the report is of; the report does not know it")
	f.StringVar(&o.key, "key", "", "private key to sign with (PEM, or cosign.key with its password in "+passwordVariable+"); unsigned without")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// attest prints the in-toto statement of a report: in a DSSE envelope if there is a key.
func attest(_ context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	var o attesting
	f := o.flags()
	switch err := f.Parse(args); {
	case err != nil:
		return exitError, misused(f, err)
	case o.help:
		return 0, explainCommand(stdout, "attest")
	case f.NArg() != 1:
		return exitError, errors.New("give one report: mcpaudit attest REPORT.json --image NAME@sha256:DIGEST")
	case o.image == "":
		return exitError, errors.New("--image is missing: a statement is about an image by its digest, and a report of this machine has none: give NAME@sha256:DIGEST of the image that has what was audited")
	}
	image, err := statement.ReadImage(o.image)
	if err != nil {
		return exitError, fmt.Errorf("--image: %w", err)
	}
	s, err := stated(f.Arg(0), image)
	if err != nil {
		return exitError, err
	}
	var out any = s
	if o.key != "" {
		if out, err = o.sign(s); err != nil {
			return exitError, err
		}
	} else if _, err := fmt.Fprintln(stderr, "mcpaudit: without --key the statement is not signed: nobody can rely on it"); err != nil {
		return exitError, err
	}
	encoded, err := json.Marshal(out)
	if err == nil {
		// The same JSON, but with nothing in it that a terminal obeys.
		_, err = stdout.Write(append(render.Readable(encoded), '\n'))
	}
	return status(err), err
}

// stated is the statement of the report in a file.
func stated(name string, image statement.Image) (statement.Statement, error) {
	source, err := readSource(name)
	if err != nil {
		return statement.Statement{}, err
	}
	if source.Image != "" || source.ImageDigest != "" {
		return statement.Statement{}, fmt.Errorf("%s: the operator made this audit, and states it itself: take the annotation mcpaudit.dev/attestation or mcpaudit.dev/statement of the MCPAuditReport", name)
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
		return statement.Envelope{}, fmt.Errorf("--key %s: %w: set %s", o.key, err, passwordVariable)
	}
	if err != nil {
		return statement.Envelope{}, fmt.Errorf("--key %s: %w", o.key, err)
	}
	return key.Sign(s)
}

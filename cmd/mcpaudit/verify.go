package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// verifying are the flags of verify.
type verifying struct {
	key, image string
	help       bool
}

func (o *verifying) flags() *pflag.FlagSet {
	f := flagSet("verify")
	f.StringVar(&o.key, "key", "", "public key of who signed (PEM, such as cosign.pub)")
	f.StringVar(&o.image, "image", "", "NAME@sha256:DIGEST: the statement has to be about an image with this digest")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// verify checks the envelope of a statement, and prints what the statement says. It is
// 0 only for a Pass that the key has signed, and that is about the image.
func verify(_ context.Context, args []string, stdout, _ io.Writer) (int, error) {
	var o verifying
	f := o.flags()
	switch err := f.Parse(args); {
	case err != nil:
		return exitError, misused(f, err)
	case o.help:
		return 0, explainCommand(stdout, "verify")
	case f.NArg() != 1 || o.key == "":
		return exitError, errors.New("give one envelope and the key: mcpaudit verify ENVELOPE.json --key cosign.pub")
	}
	s, err := o.check(f.Arg(0))
	if err != nil {
		return exitError, err
	}
	if err := told(stdout, s, o.image != ""); err != nil {
		return exitError, err
	}
	switch s.Predicate.Verdict {
	case report.VerdictPass:
		return 0, nil
	case report.VerdictFail:
		return exitFindings, nil
	}
	return exitError, nil
}

// check reads an envelope, and refuses what is not signed or is about another image.
func (o *verifying) check(name string) (statement.Statement, error) {
	var none statement.Statement
	public, err := readBounded(o.key)
	if err != nil {
		return none, fmt.Errorf("--key: %w", err)
	}
	key, err := statement.ReadPublicKey(public)
	if err != nil {
		return none, fmt.Errorf("--key %s: %w", o.key, err)
	}
	var image statement.Image
	if o.image != "" {
		if image, err = statement.ReadImage(o.image); err != nil {
			return none, fmt.Errorf("--image: %w", err)
		}
	}
	content, err := readBounded(name)
	if err != nil {
		return none, fmt.Errorf("read envelope: %w", err)
	}
	envelope, err := statement.Decode(content)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, escaped(err))
	}
	s, err := envelope.Verify(key)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, escaped(err))
	}
	if o.image != "" && !s.About(image.Digests[0]) {
		return none, fmt.Errorf("%s: the statement is about %s, not about %s", name, render.Escape(subjects(s)), image.Digests[0])
	}
	return s, nil
}

// readBounded reads no more of a file than an envelope may have, and one byte.
func readBounded(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, statement.MaxEnvelopeBytes+1))
}

// escaped is an error whose text quotes a file: in one line, and harmless.
func escaped(err error) error { return errors.New(render.Escape(err.Error())) }

func subjects(s statement.Statement) string {
	var all []string
	for _, subject := range s.Subject {
		all = append(all, subject.Name+"@sha256:"+subject.Digest["sha256"])
	}
	return strings.Join(all, ", ")
}

// told prints a statement for people.
func told(w io.Writer, s statement.Statement, compared bool) error {
	p := s.Predicate
	image := subjects(s)
	if p.Image.Platform != "" {
		image += " (" + p.Image.Platform + " was run)"
	}
	if p.Image.KnownBy == statement.KnownByClaim {
		image += ", as who signed says: the audit itself ran a command of the local machine"
	}
	if !compared {
		image += "; not compared: give --image"
	}
	threshold := "no severity fails it"
	if p.FailOn != "" {
		threshold = string(p.FailOn) + " and above fail it"
	}
	lines := [][2]string{
		{"verdict", fmt.Sprintf("%s (%s): %s", p.Verdict, p.Reason, p.Message)}, {"findings", p.Findings.String() + "; " + threshold},
		{"command", fmt.Sprintf("%q", p.Server.Command)}, {"manifest", p.ManifestDigest}, {"rules", p.RulesetDigest},
		{"tracer", p.Tracer.Name + " " + p.Tracer.Version}, {"audited", p.FinishedOn.UTC().Format(time.RFC3339)},
	}
	if _, err := fmt.Fprintf(w, "%-9s %s\n", "image", render.Escape(image)); err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "%-9s %s\n", line[0], render.Escape(line[1])); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

type verifying struct {
	key, image   string
	minAssurance report.AssuranceLevel // empty for any
}

// newVerify checks a statement's envelope and prints the statement.
func newVerify() *cobra.Command {
	var o verifying
	c := &cobra.Command{
		Use: "verify --key FILE ENVELOPE.json", Short: "Verify the signed statement about an image",
		Long: `Verify the signed statement about an image.

Without --image it is not checked which image the statement is about.

Exit codes:
  0  signed by the key, about the image of --image, and a Pass
  3  signed by the key, about the image of --image, and a Fail
  1  signed and Inconclusive, or refused; the message names the reason`,
		Args: cli.Args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := o.check(args[0])
			if err != nil {
				return err
			}
			if err := printStatement(c.OutOrStdout(), s, o.image != ""); err != nil {
				return err
			}
			switch s.Predicate.Verdict {
			case report.VerdictPass:
				return nil
			case report.VerdictFail:
				return cli.Exit(exitFindings, nil)
			}
			return cli.Exit(1, nil)
		},
	}
	c.Flags().StringVar(&o.key, "key", "", "public key of the signer: PEM, such as cosign.pub (required)")
	c.Flags().StringVar(&o.image, "image", "", "image that the statement has to be about, as NAME@sha256:DIGEST")
	cli.LeastAssurance(c, &o.minAssurance)
	cli.Require(c, "key")
	return c
}

// check reads an envelope. It rejects one that the key did not sign or that is about another
// image.
func (o *verifying) check(name string) (statement.Statement, error) {
	var none statement.Statement
	key, err := readFlag("--key", o.key, statement.MaxEnvelopeBytes, statement.ReadPublicKey)
	if err != nil {
		return none, err
	}
	var image statement.Image
	if o.image != "" {
		if image, err = statement.ReadImage(o.image); err != nil {
			return none, fmt.Errorf("--image: %w", err)
		}
	}
	content, err := readFile(name, statement.MaxEnvelopeBytes)
	if err != nil {
		return none, fmt.Errorf("read envelope: %w", err)
	}
	envelope, err := statement.Decode(content)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	s, err := envelope.Verify(key)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	if o.image != "" && !s.About(image.Digests[0]) {
		return none, fmt.Errorf("%s: the statement is about %s, not about %s", name, subjects(s), image.Digests[0])
	}
	return s, o.checkAssurance(s)
}

// checkAssurance rejects a statement with too little assurance, or from an earlier version that
// does not record it.
func (o *verifying) checkAssurance(s statement.Statement) error {
	if o.minAssurance == "" {
		return nil
	}
	rests := s.Predicate.Assurance
	switch {
	case rests == nil:
		return fmt.Errorf("--min-assurance %s: the statement records no assurance: audit the server again", o.minAssurance)
	case !rests.Level.AtLeast(o.minAssurance):
		return fmt.Errorf("--min-assurance %s: the verdict rests on %s, which is %s", o.minAssurance, rests.Basis(), rests.Level)
	}
	return nil
}

func subjects(s statement.Statement) string {
	var all []string
	for _, subject := range s.Subject {
		all = append(all, subject.Name+"@sha256:"+subject.Digest["sha256"])
	}
	return strings.Join(all, ", ")
}

// verdictOf formats the verdict with its reason. The message of a Pass needs none.
func verdictOf(p statement.Predicate) string {
	if p.Verdict == report.VerdictPass && strings.HasPrefix(p.Message, string(report.VerdictPass)) {
		return p.Message
	}
	return fmt.Sprintf("%s (%s): %s", p.Verdict, p.Reason, p.Message)
}

func assuranceOf(rests *report.Assurance) string {
	if rests == nil {
		return "not recorded"
	}
	return strings.Join(append([]string{fmt.Sprintf("%s, of %s", rests.Level, rests.Basis())}, rests.Because...), "; ")
}

func exposureOf(e *statement.Exposure) string {
	if e == nil {
		return "not recorded"
	}
	return report.ExposureLine(e.Score, e.Level, e.Kinds)
}

// printStatement prints a statement for people.
func printStatement(w io.Writer, s statement.Statement, compared bool) error {
	p := s.Predicate
	image := subjects(s)
	if p.Image.Platform != "" {
		image += " (" + p.Image.Platform + " was audited)"
	}
	if p.Image.KnownBy == statement.KnownByClaim {
		image += ", as the signer claims: the audit ran a command of the local machine"
	}
	if !compared {
		image += "; not checked, as --image is not set"
	}
	threshold := "no threshold"
	if p.FailOn != "" {
		threshold = string(p.FailOn) + " and above fail"
	}
	lines := [][2]string{
		{"verdict", verdictOf(p)}, {"assurance", assuranceOf(p.Assurance)}, {"exposure", exposureOf(p.Exposure)}, {"findings", p.Findings.String() + "; " + threshold},
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

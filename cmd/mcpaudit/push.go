package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/webhook"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// The limits of push's flags.
const (
	maxRetries     = 20
	minPushTimeout = time.Second
	maxPushTimeout = time.Hour
	attemptTimeout = 30 * time.Second
)

type pushing struct {
	format     render.Format
	url        string
	headers    []string
	secretFile string
	caFile     string
	timeout    time.Duration
	retries    int
	dryRun     bool
}

// newPush posts a report to a webhook. It succeeds for any verdict.
func newPush() *cobra.Command {
	var o pushing
	c := &cobra.Command{
		Use: "push --url URL REPORT.json", Short: "Post a report to a webhook", Args: cli.Args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.push(c.Context(), args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&o.url, "url", "", "https URL, or $NAME or @FILE that holds it (required)")
	formats := render.Outputs()[1:]
	cli.Enum(c, &o.format, cli.Flag{Name: "output", Short: "o", Default: "json", Usage: "format of the body: " + strings.Join(formats, ", ")}, formats, render.FormatNamed)
	f.StringArrayVar(&o.headers, "header", nil, "'Name: value'; the last word of the value may be $NAME or @FILE; may be repeated")
	f.StringVar(&o.secretFile, "secret-file", "", "file with the secret that signs the body, in "+webhook.SignatureHeader)
	f.StringVar(&o.caFile, "ca-file", "", "PEM file of the authorities to trust instead of the system's")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "longest duration including retries, 1s to 1h")
	f.IntVar(&o.retries, "retries", 4, "retries after connection errors, 408, 429 and 5xx except 501, 0 to 20")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the request with its secrets masked, and send nothing")
	cli.Require(c, "url")
	return c
}

func (o *pushing) push(ctx context.Context, name string, stdout, stderr io.Writer) error {
	err := cmp.Or(plan.Within("--timeout", o.timeout, minPushTimeout, maxPushTimeout), plan.Within("--retries", o.retries, 0, maxRetries))
	if err != nil {
		return err
	}
	r, err := loadReport(name)
	if err != nil {
		return err
	}
	p, err := o.parcel(r)
	if err != nil {
		return err
	}
	if o.dryRun {
		return p.print(stdout)
	}
	client := webhook.Client{Retries: o.retries, Attempt: attemptTimeout, OnRetry: func(text string) { _, _ = fmt.Fprintln(stderr, "mcpaudit:", text) }}
	if client.TLS, err = o.trust(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	answer, err := client.Send(ctx, p.Delivery)
	if err != nil {
		return fmt.Errorf("push to %s: %w", p.shown, err)
	}
	_, err = fmt.Fprintf(stdout, "delivered to %s: %d %s\n", p.shown, answer, http.StatusText(answer))
	return err
}

// parcel is a delivery with its printable form.
type parcel struct {
	webhook.Delivery
	shown  string   // the URL, masked
	masked []string // the names of headers whose values are secret
}

func (o *pushing) parcel(r report.Report) (parcel, error) {
	var body bytes.Buffer
	if err := o.format.Write(&body, r); err != nil {
		return parcel{}, err
	}
	encoded, err := report.Encode(r)
	if err != nil {
		return parcel{}, err
	}
	p := parcel{Delivery: webhook.Delivery{Body: body.Bytes()}}
	if err := p.address(o.url); err != nil {
		return parcel{}, err
	}
	if p.Header, p.masked, err = secretHeaders(o.headers); err != nil {
		return parcel{}, err
	}
	if strings.HasPrefix(p.URL, "http:") && len(p.masked) > 0 && !local(p.URL) {
		return parcel{}, fmt.Errorf("--header %s: the secret would be sent unencrypted to an http URL: use an https URL", p.masked[0])
	}
	p.Header.Set("Content-Type", o.format.Type)
	p.Header.Set("User-Agent", "mcpaudit/"+audit.Build())
	// Equal reports in one format are one delivery, however often it is tried
	// (draft-ietf-httpapi-idempotency-key-header).
	p.Header.Set("Idempotency-Key", fmt.Sprintf("%q", report.Sum(encoded)+"-"+o.format.Name))
	if o.secretFile != "" {
		secret, err := secretFile(o.secretFile)
		if err != nil {
			return parcel{}, fmt.Errorf("--secret-file: %w", err)
		}
		p.Header.Set(webhook.SignatureHeader, webhook.Sign(p.Body, []byte(secret)))
	}
	return p, nil
}

// address checks the URL. Only the host of a secret one may be printed.
func (p *parcel) address(text string) error {
	given, secret, err := resolve(text)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	u, err := url.Parse(given)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("--url: invalid value (want an https URL, such as https://hooks.example.com/mcpaudit)")
	case u.User != nil:
		return errors.New("--url contains a user or a password: pass them with --header 'Authorization: Basic $NAME'")
	}
	p.URL = u.String()
	p.shown = u.Scheme + "://" + u.Host
	switch {
	case secret:
		p.shown += "/***"
	case u.RawQuery != "":
		p.shown += u.EscapedPath() + "?***"
	default:
		p.shown += u.EscapedPath()
	}
	return nil
}

// local reports whether a URL points to this machine.
func local(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// print writes the request as it would be sent (RFC 9112).
func (p parcel) print(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "POST %s\n", p.shown)
	for _, name := range slices.Sorted(maps.Keys(p.Header)) {
		for _, value := range p.Header[name] {
			if slices.Contains(p.masked, name) {
				value = "***"
			}
			fmt.Fprintf(&text, "%s: %s\n", name, render.Escape(value))
		}
	}
	fmt.Fprintf(&text, "\n%s", cli.EscapeLines(p.Body)) // for people: a server influenced it
	_, err := io.WriteString(w, text.String())
	return err
}

// trust returns the TLS configuration with --ca-file.
func (o *pushing) trust() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.caFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(o.caFile)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--ca-file %s has no PEM certificate", o.caFile)
	}
	return config, nil
}

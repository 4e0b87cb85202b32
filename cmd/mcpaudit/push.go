package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/terminal"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/webhook"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// The bounds of the flags of push.
const (
	maxRetries     = 20
	minPushTimeout = time.Second
	maxPushTimeout = time.Hour
	// attemptTimeout is how long one attempt may take, of all the time there is.
	attemptTimeout = 30 * time.Second
)

// pushing are the flags of push.
type pushing struct {
	output     string
	url        string
	headers    []string
	secretFile string
	caFile     string
	timeout    time.Duration
	retries    int
	dryRun     bool
	help       bool
}

func (o *pushing) flags() *pflag.FlagSet {
	f := flagSet("push")
	f.StringVar(&o.url, "url", "", "where to: https://..., or $NAME or @FILE that has it")
	f.StringVarP(&o.output, "output", "o", "json", strings.Join(render.Outputs()[1:], ", "))
	f.StringArrayVar(&o.headers, "header", nil, "'Name: value', where the last word of the value may be $NAME or @FILE; may be repeated")
	f.StringVar(&o.secretFile, "secret-file", "", "file with a secret to sign the body with: "+webhook.SignatureHeader)
	f.StringVar(&o.caFile, "ca-file", "", "PEM file of the authorities to trust, in place of the system's")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "longest time of the whole, with all retries, 1s to 1h")
	f.IntVar(&o.retries, "retries", 4, "how often to try again after connection errors, 408, 429 and 5xx but 501, 0 to 20")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the request, secrets masked, and send nothing")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// push is the command of that name: it posts a report that was kept. Whatever the
// verdict is, having delivered it is a success.
func push(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	var o pushing
	f := o.flags()
	switch err := f.Parse(args); {
	case err != nil:
		return exitError, misused(f, err)
	case o.help:
		return 0, explainCommand(stdout, "push")
	case f.NArg() != 1:
		return exitError, errors.New("give one report: mcpaudit push --url URL REPORT.json")
	}
	if err := o.check(); err != nil {
		return exitError, err
	}
	r, err := loadReport(f.Arg(0))
	if err != nil {
		return exitError, err
	}
	p, err := o.parcel(r)
	if err != nil {
		return exitError, err
	}
	if o.dryRun {
		err := p.print(stdout)
		return status(err), err
	}
	client := webhook.Client{Retries: o.retries, Attempt: attemptTimeout, Tell: func(text string) { _, _ = fmt.Fprintln(stderr, "mcpaudit:", text) }}
	if client.TLS, err = o.trust(); err != nil {
		return exitError, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	answer, err := client.Send(ctx, p.Delivery)
	if err != nil {
		return exitError, fmt.Errorf("push to %s: %w", p.shown, err)
	}
	_, err = fmt.Fprintf(stdout, "delivered to %s: %d %s\n", p.shown, answer, http.StatusText(answer))
	return status(err), err
}

func (o *pushing) check() error {
	switch _, ok := render.FormatNamed(o.output); {
	case o.url == "":
		return errors.New("--url: say where to push the report")
	case !ok:
		return fmt.Errorf("--output %q: it is one of %s", o.output, strings.Join(render.Outputs()[1:], ", "))
	case o.timeout < minPushTimeout || o.timeout > maxPushTimeout:
		return fmt.Errorf("--timeout %s: it is from 1s to 1h", o.timeout)
	case o.retries < 0 || o.retries > maxRetries:
		return fmt.Errorf("--retries %d: it is from 0 to %d", o.retries, maxRetries)
	}
	return nil
}

// parcel is a delivery, and what of it may be shown.
type parcel struct {
	webhook.Delivery
	shown  string   // the URL, masked
	masked []string // the names of headers whose values are secret
}

// parcel makes the request.
func (o *pushing) parcel(r report.Report) (parcel, error) {
	format, _ := render.FormatNamed(o.output)
	var body bytes.Buffer
	if err := format.Write(&body, r); err != nil {
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
		return parcel{}, fmt.Errorf("--header %s: its secret would go to an http URL in the clear: give an https URL", p.masked[0])
	}
	p.Header.Set("Content-Type", format.Type)
	p.Header.Set("User-Agent", "mcpaudit/"+audit.Build())
	// The same report in the same format is one delivery, however often it is tried
	// (draft-ietf-httpapi-idempotency-key-header).
	p.Header.Set("Idempotency-Key", fmt.Sprintf("%q", report.Sum(encoded)+"-"+format.Name))
	if o.secretFile != "" {
		secret, err := secretFile(o.secretFile)
		if err != nil {
			return parcel{}, fmt.Errorf("--secret-file: %w", err)
		}
		p.Header.Set(webhook.SignatureHeader, webhook.Sign(p.Body, []byte(secret)))
	}
	return p, nil
}

// address checks the URL. Of one that is kept as a secret no more than the host is shown.
func (p *parcel) address(text string) error {
	given, secret, err := resolve(text)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	u, err := url.Parse(given)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("--url: it is an https URL, such as https://hooks.example.com/mcpaudit")
	case u.User != nil:
		return errors.New("--url: it has a user or a password in it: give them by --header 'Authorization: Basic $NAME'")
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

// local reports whether a URL is of this machine.
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
	var names []string
	for name := range p.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range p.Header[name] {
			if slices.Contains(p.masked, name) {
				value = "***"
			}
			fmt.Fprintf(&text, "%s: %s\n", name, render.Escape(value))
		}
	}
	fmt.Fprintf(&text, "\n%s", terminal.Lines(p.Body)) // for people to look at: a server wrote parts of it
	_, err := io.WriteString(w, text.String())
	return err
}

// trust are the authorities of --ca-file.
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
		return nil, fmt.Errorf("--ca-file %s: there is no PEM certificate in it", o.caFile)
	}
	return config, nil
}

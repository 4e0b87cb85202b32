package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// connection holds the flags of connect.
type connection struct {
	judging
	probing
	transport plan.Transport
	header    []string
}

func newConnect() *cobra.Command {
	var o connection
	c := &cobra.Command{
		Use: "connect URL", Short: "Audit what a server that runs elsewhere says",
		Long: `Audit what a server that runs elsewhere says.

Nothing is traced: only the manifest and the answers of the server are judged, and it
never passes.`,
		Args: cli.Args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.connect(c.Context(), args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.judging.flags(c)
	cli.Enum(c, &o.transport, cli.Flag{Name: "transport", Default: "http", Usage: "transport of the server: http (streamable HTTP) or sse (HTTP+SSE)"}, []string{"http", "sse"},
		func(word string) (plan.Transport, bool) {
			t, ok := plan.ByFlag(word)
			return t, ok && t.Listens
		})
	c.Flags().StringArrayVar(&o.header, "header", nil, "'Name: value' to send with every request, never printed; may be repeated")
	o.probing.flags(c, "read-only-hinted") // without a sandbox, calls have real effects
	return c
}

// plan checks the flags and the URL.
func (o *connection) plan(url string) (p audit.Plan, to audit.Remote, err error) {
	p.Transport, to.URL = o.transport.Name, url
	if err := audit.CheckURL(url); err != nil {
		return p, to, err
	}
	if to.Header, err = headers(o.header); err != nil {
		return p, to, err
	}
	if err := o.judging.plan(&p); err != nil {
		return p, to, err
	}
	return p, to, o.probing.plan(&p)
}

func (o *connection) connect(ctx context.Context, url string, stdout, stderr io.Writer) error {
	plan, to, err := o.plan(url)
	if err != nil {
		return err
	}
	if err := o.makeOutDir(); err != nil {
		return err
	}
	progress := cli.NewProgress(stderr)
	plan.Progress, plan.Names = progress.Step, inputs.DrawNames(true)
	r, err := audit.Connect(ctx, plan, to)
	progress.Clear()
	if err != nil {
		return err
	}
	return o.conclude(r, stdout)
}

// fieldName is a token of RFC 9110, 5.6.2.
var fieldName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// framing has the headers that the HTTP client sets.
var framing = []string{"Connection", "Content-Length", "Content-Type", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// headers parses the values of --header. Errors do not contain values.
func headers(entries []string) (http.Header, error) {
	all := http.Header{}
	for _, entry := range entries {
		name, value, ok := strings.Cut(entry, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok || !fieldName.MatchString(name):
			return nil, errors.New("--header: invalid value (want 'Name: value')")
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return nil, fmt.Errorf("--header %s: the value has a control character", name)
		case slices.Contains(framing, http.CanonicalHeaderKey(name)):
			return nil, fmt.Errorf("--header %s is set by mcpaudit and cannot be overridden", name)
		}
		all.Add(name, value)
	}
	return all, nil
}

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

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/terminal"
	"github.com/mcpaudit/mcpaudit/runner/audit"
)

// connection are the flags of connect.
type connection struct {
	judging
	probing
	transport string
	header    []string
}

func (o *connection) flags() *pflag.FlagSet {
	f := flagSet("connect")
	o.judging.flags(f)
	f.StringVar(&o.transport, "transport", "http", "how the server is talked to: http (streamable HTTP) or sse (HTTP+SSE)")
	f.StringArrayVar(&o.header, "header", nil, "'Name: value' to send with every request, shown nowhere; may be repeated")
	o.calls = "read-only-hinted" // it is no sandbox: what a tool does there, it does
	o.probing.flags(f)
	return f
}

// parse reads the flags and the URL.
func (o *connection) parse(args []string) (p audit.Plan, to audit.Remote, err error) {
	f := o.flags()
	if err := f.Parse(args); err != nil {
		return p, to, misused(f, err)
	}
	if o.help {
		return p, to, nil
	}
	transport, ok := plan.ByFlag(o.transport)
	if p.Transport = transport.Name; !ok || !transport.Listens {
		return p, to, fmt.Errorf("--transport %q: it is http or sse", o.transport)
	}
	if f.NArg() != 1 {
		return p, to, errors.New("there is no server to connect to: give one URL, as in mcpaudit connect https://mcp.example.com/mcp")
	}
	to.URL = f.Arg(0)
	if err := audit.CheckURL(to.URL); err != nil {
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

// fieldName is a token of RFC 9110, 5.6.2.
var fieldName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// framing are the headers that the client makes by itself.
var framing = []string{"Connection", "Content-Length", "Content-Type", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// headers reads those of --header. No error repeats a value.
func headers(entries []string) (http.Header, error) {
	all := http.Header{}
	for _, entry := range entries {
		name, value, ok := strings.Cut(entry, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok || !fieldName.MatchString(name):
			return nil, errors.New("--header: it is of the form 'Name: value'")
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return nil, fmt.Errorf("--header %s: its value has a control character", name)
		case slices.Contains(framing, http.CanonicalHeaderKey(name)):
			return nil, fmt.Errorf("--header %s: mcpaudit sends that by itself: leave it out", name)
		}
		all.Add(name, value)
	}
	return all, nil
}

// connect is the command of that name. It returns the exit code.
func connect(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	var o connection
	plan, to, err := o.parse(args)
	if err != nil {
		return exitError, err
	}
	if o.help {
		return 0, explainCommand(stdout, "connect")
	}
	if err := o.makeOutDir(); err != nil {
		return exitError, err
	}
	progress := terminal.NewProgress(stderr)
	plan.Progress = progress.Step
	r, err := audit.Connect(ctx, plan, to)
	progress.Clear()
	if err != nil {
		return exitError, interrupted(err)
	}
	return conclude(o.judging, r, stdout)
}

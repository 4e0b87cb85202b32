package audit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/probe"
)

// Remote is a server that runs elsewhere.
type Remote struct {
	// URL of the endpoint, see CheckURL.
	URL string
	// Header is sent with every request. Reports never contain its values.
	Header http.Header
	// Dial connects to the server instead of the network; nil for the network. For an https URL, TLS is used on top.
	Dial func(ctx context.Context) (net.Conn, error)
}

// CheckURL returns an error for a URL that is no endpoint of a server, without the secrets that the URL may contain.
func CheckURL(text string) error {
	to, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("the URL cannot be read: it is of the form https://HOST/PATH")
	case to.User != nil:
		return errors.New("the URL has a user name or password, which the report would show: give a header in its place")
	case to.Scheme != "http" && to.Scheme != "https":
		return fmt.Errorf("the URL %q begins with neither http:// nor https://", text)
	case to.Hostname() == "":
		return fmt.Errorf("the URL %q has no host", text)
	case to.Fragment != "":
		return fmt.Errorf("the URL %q has a fragment (#), which a server never gets to see", text)
	}
	return nil
}

// Connect audits a server that runs elsewhere by its manifest and answers alone. Nothing is traced, so the verdict is
// never Pass: without a finding that fails it, it is Inconclusive, usually with the reason NotTraced. Command,
// Decoys, Network, Port and Path of plan are ignored. Errors and times are those of Run.
func Connect(ctx context.Context, plan Plan, to Remote) (report.Report, error) {
	if err := CheckURL(to.URL); err != nil {
		return report.Report{}, err
	}
	started := time.Now()
	if plan.Progress == nil {
		plan.Progress = func(string) {}
	}
	if plan.Transport != report.TransportSSE {
		plan.Transport = report.TransportStreamableHTTP
	}
	limited, cancel := context.WithTimeout(ctx, plan.Timeout)
	defer cancel()
	plan.Progress("connect to " + to.URL)
	first := observation{untraced: true}
	if first.result.Incomplete = to.reachable(limited); first.result.Incomplete.Reason == "" {
		first = probeRemote(limited, plan, to, launch{})
	}
	runs := []observation{first}
	if runs[0].result.NeedDiscover && limited.Err() == nil {
		runs = append(runs, probeRemote(limited, plan, to, launch{discover: true}))
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return report.Report{}, fmt.Errorf("audit: %w", err)
	}
	ended := time.Now()
	r := conclude(plan, runs, ended)
	r.Probe.Depth = "" // the server was not launched
	r.StartTime, r.EndTime = report.At(started), report.At(ended)
	r.Server.URL = to.URL
	switch r.Reason {
	case report.ReasonNotTraced:
		r.Message = untraced(r)
	case report.ReasonNotExercised: // the lesser reason
		r.Reason, r.Message = report.ReasonNotTraced, untraced(r)+"; "+r.Message
	}
	r.Unobserved = append(r.Unobserved, report.Gap{What: "NotTraced", Count: 1,
		Detail: "what the server does: it runs elsewhere, so that only what it says was seen"})
	r.Redact(hider(to.Header))
	r.Normalise()
	r.Cap()
	return r, nil
}

// probeRemote runs one session with a server that runs elsewhere.
func probeRemote(ctx context.Context, plan Plan, to Remote, how launch) observation {
	plan.Network = report.NetworkAllow // there is no sinkhole
	return observation{untraced: true, result: runProbe(ctx, plan, probe.Conn{
		Names: plan.Names,
		HTTP:  &probe.HTTP{Transport: plan.Transport, URL: to.URL, Dial: to.Dial, Header: to.Header},
	}, leak.New(plan.Decoys), how)}
}

// untraced returns the observations of an audit without a trace.
func untraced(r report.Report) string {
	found := "nothing was found"
	if n := len(r.Findings); n > 0 {
		found = fmt.Sprintf("findings below the threshold: %d", n)
	}
	return "nothing was traced, for the server runs elsewhere: in its manifest and its answers " + found
}

// hider hides the values of headers, with and without their scheme ("Bearer x").
func hider(header http.Header) func(string) string {
	const shortest = 6 // bytes; shorter values are no secrets, and would match anything
	var pairs []string
	for _, values := range header {
		for _, v := range values {
			for _, secret := range slices.Compact([]string{v, v[strings.LastIndexByte(v, ' ')+1:]}) {
				if len(secret) >= shortest {
					pairs = append(pairs, secret, "(the value of a header)")
				}
			}
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

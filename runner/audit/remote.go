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
	// URL is the endpoint, see CheckURL.
	URL string
	// Header is sent with every request. Its values are in no report.
	Header http.Header
	// Dial makes a connection to the server, whatever the URL says; nil stands for
	// the network. TLS is spoken on top of it where the URL is https.
	Dial func(ctx context.Context) (net.Conn, error)
}

// CheckURL refuses what is no endpoint of a server, in words for people, without
// the secrets that it may hold.
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

// Connect audits a server that runs elsewhere by what it says alone: its manifest
// and its answers. Nothing is traced, so that the verdict is never Pass: without a
// finding that fails, it is Inconclusive for the reason NotTraced, or for another.
// Of plan, Command, Decoys, Network, Port and Path do not count. Errors and times
// are those of Run.
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
	r.Probe.Depth = "" // it was not started
	r.StartTime, r.EndTime = report.At(started), report.At(ended)
	r.Server.URL = to.URL
	switch r.Reason {
	case report.ReasonNotTraced:
		r.Message = untraced(r)
	case report.ReasonNotExercised: // which is the lesser reason
		r.Reason, r.Message = report.ReasonNotTraced, untraced(r)+"; "+r.Message
	}
	r.Unobserved = append(r.Unobserved, report.Gap{What: "NotTraced", Count: 1,
		Detail: "what the server does: it runs elsewhere, so that only what it says was seen"})
	r.Redact(hider(to.Header))
	r.Normalise()
	r.Cap()
	return r, nil
}

// probeRemote holds one session with a server that runs elsewhere.
func probeRemote(ctx context.Context, plan Plan, to Remote, how launch) observation {
	plan.Network = report.NetworkAllow // what it sends leads to no sinkhole of ours
	return observation{untraced: true, result: runProbe(ctx, plan, probe.Conn{
		HTTP: &probe.HTTP{Transport: plan.Transport, URL: to.URL, Dial: to.Dial, Header: to.Header},
	}, leak.New(plan.Decoys), how)}
}

// untraced says what an audit that was not traced has found.
func untraced(r report.Report) string {
	found := "nothing was found"
	if n := len(r.Findings); n > 0 {
		found = fmt.Sprintf("findings below the threshold: %d", n)
	}
	return "nothing was traced, for the server runs elsewhere: in its manifest and its answers " + found
}

// hider hides the values of headers, each with and without its scheme ("Bearer x").
func hider(header http.Header) func(string) string {
	const shortest = 6 // bytes; what is shorter is no secret, and would hit anything
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

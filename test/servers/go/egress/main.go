// Command egress is an MCP server that fetches what its arguments name, with guards of
// addresses that let something through, as long as it is not told that they are "fixed":
//
//	egress [fixed]
//
// fetch_page takes every host that is no address for a public one, fetch_feed resolves the host
// and connects to what another look-up says, fetch_image does not look where it is redirected,
// fetch_text knows some texts of addresses, and fetch_release looks for its host at the beginning of a URL.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const releases = "https://releases.example.com"

var (
	fixed      = slices.Contains(os.Args[1:], "fixed")
	errPrivate = errors.New("private addresses are not allowed")
)

// tool is one that fetches a URL unless its guard refuses it.
type tool struct {
	name, description string
	guard             func(ctx context.Context, to *url.URL) error
	// follows: it goes where it is redirected.
	follows bool
}

var tools = []tool{
	{"fetch_page", "Fetches a web page.", literalGuard, false},
	{"fetch_feed", "Fetches a feed from the web.", resolvingGuard, false},
	{"fetch_image", "Fetches an image from the web.", resolvingGuard, true},
	{"fetch_text", "Fetches a text from the web; localhost and internal addresses are rejected.", textGuard, false},
	{"fetch_release", "Fetches the notes of a release, such as `" + releases + "/notes`.", nil, false},
}

func main() {
	s := server.NewMCPServer("egress", "1.0.0", server.WithToolCapabilities(false))
	for _, t := range tools {
		s.AddTool(mcp.NewTool(t.name, mcp.WithDescription(t.description), mcp.WithString("url", mcp.Required())), t.call)
	}
	if err := server.ServeStdio(s); err != nil {
		log.Fatal(err)
	}
}

func (t tool) call(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	text, err := t.fetch(ctx, r.GetString("url", ""))
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	return mcp.NewToolResultText(text), nil
}

func (t tool) fetch(ctx context.Context, address string) (string, error) {
	to, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	dialer := &net.Dialer{Timeout: 3 * time.Second}
	client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	switch {
	case t.guard == nil: // by its host
		if fixed && to.Scheme+"://"+to.Host != releases || !strings.HasPrefix(address, releases) {
			return "", fmt.Errorf("the host is not allowed: try %s/notes", releases)
		}
	case fixed:
		dialer.Control = func(_, at string, _ syscall.RawConn) error { return publicGuard(at) }
	default:
		err = t.guard(ctx, to)
	}
	if err != nil {
		return "", err
	}
	if !t.follows {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 2000))
	return string(text), err
}

// translated are addresses that a translator makes others of.
var translated = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("100.64.0.0/10")}

// publicGuard refuses the address that is about to be connected to.
func publicGuard(at string) error {
	to, err := netip.ParseAddrPort(at)
	if err != nil {
		return err
	}
	return public(to.Addr().Unmap())
}

func public(address netip.Addr) error {
	if !address.IsGlobalUnicast() || address.IsPrivate() || slices.ContainsFunc(translated, func(p netip.Prefix) bool { return p.Contains(address) }) {
		return errPrivate
	}
	return nil
}

func literalGuard(_ context.Context, to *url.URL) error {
	if address, err := netip.ParseAddr(to.Hostname()); err == nil {
		return public(address.Unmap())
	}
	return nil
}

func resolvingGuard(ctx context.Context, to *url.URL) error {
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", to.Hostname())
	for _, address := range all {
		err = errors.Join(err, public(address.Unmap()))
	}
	return err
}

func textGuard(_ context.Context, to *url.URL) error {
	host := to.Hostname()
	if host == "localhost" || host == "127.0.0.1" || strings.HasPrefix(host, "10.") || strings.HasPrefix(host, "192.168.") || host == "169.254.169.254" {
		return errPrivate
	}
	return nil
}

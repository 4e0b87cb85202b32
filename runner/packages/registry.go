package packages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// OfficialRegistry is the MCP registry that clients ask.
const OfficialRegistry = "https://registry.modelcontextprotocol.io"

const (
	// maxServerJSON bounds what the MCP registry answers, in bytes.
	maxServerJSON = 4 << 20
	askTimeout    = time.Minute
)

// Resolve asks an MCP registry for the launch and the version of the server that a package of MCPRegistry names
// (API v0.1, /servers/{serverName}/versions/{version}).
func (p Package) Resolve(ctx context.Context, registry string) (exact Package, l Launched, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	base, err := url.Parse(registry)
	if err != nil || base.Host == "" {
		return p, l, fmt.Errorf("--mcp-registry: invalid value %q (want a URL such as %s)", registry, OfficialRegistry)
	}
	at := base.JoinPath("v0.1", "servers", url.PathEscape(p.Name), "versions", url.PathEscape(cmp.Or(p.Version, "latest")))
	var answer struct {
		Server json.RawMessage `json:"server"`
	}
	var server serverJSON
	text, err := get(ctx, at.String(), maxServerJSON)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err == nil {
		err = json.Unmarshal(answer.Server, &server)
	}
	if err != nil {
		return p, l, fmt.Errorf("ask %s for %s: %w", base.Host, p, err)
	}
	if l, err = server.launch(); err != nil {
		return p, l, fmt.Errorf("%s: %w", p, err)
	}
	// Anything else may be a file of this machine, or a service on it.
	if l.Registry == MCPB && !strings.HasPrefix(l.Name, "https://") && !strings.HasPrefix(l.Name, base.Scheme+"://"+base.Host+"/") {
		return p, l, fmt.Errorf("%s: its bundle is at %.200q, and neither at an https URL nor where the registry is", p, l.Name)
	}
	if versionForm.MatchString(server.Version) {
		p.Version = server.Version
	}
	l.ServerJSON = answer.Server
	return p, l, nil
}

// get returns the body at a URL, of at most most bytes.
func get(ctx context.Context, at string, most int64) ([]byte, error) {
	body, err := open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(body, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it answered more than %d bytes", most)
	}
	return text, err
}

// download writes the body at a URL into a new file, of at most most bytes. The caller removes it.
func download(ctx context.Context, at string, most int64) (file string, err error) {
	body, err := open(ctx, at)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }() // only read
	to, err := os.CreateTemp("", "*.mcpb")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(to, io.LimitReader(body, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	if err = errors.Join(err, to.Close()); err != nil {
		_ = os.Remove(to.Name())
		return "", err
	}
	return to.Name(), nil
}

// client does not follow redirects from https to another scheme, which could lead to a service of this machine.
var client = &http.Client{CheckRedirect: func(to *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 10:
		return errors.New("it redirects for ever")
	case via[0].URL.Scheme == "https" && to.URL.Scheme != "https":
		return fmt.Errorf("it redirects to %.200q, and not to an https URL", to.URL)
	}
	return nil
}}

// open returns the body at a URL.
func open(ctx context.Context, at string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, errors.New(strings.TrimSpace(answer.Status))
	}
	return answer.Body, nil
}

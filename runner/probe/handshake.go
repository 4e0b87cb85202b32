package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	methodCancelled  = "notifications/cancelled"
)

// revisions lists those with the initialize handshake, the newest last; stateless names the
// one that did away with it.
var revisions, stateless = handshakes()

// newest names the revision that is asked for first, unless Options say otherwise.
var newest = revisions[len(revisions)-1]

func handshakes() (dates []string, stateless string) {
	for _, r := range transport.Revisions {
		if r.Stateless {
			return dates, r.Date
		}
		dates = append(dates, r.Date)
	}
	return dates, ""
}

// The keys of `_meta` that every request of the stateless revision carries
// (specification 2026-07-28, basic/index, "_meta").
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

func (s *session) clientInfo() map[string]any {
	info := map[string]any{"name": s.name(), "version": s.version()}
	for name, value := range map[string]string{"title": s.options.Title, "websiteUrl": s.options.Site} {
		if value != "" {
			info[name] = value
		}
	}
	return info
}

// capabilities returns the client's capabilities, for initialize.
func (s *session) capabilities() map[string]any {
	if s.options.Incapable {
		return map[string]any{}
	}
	return capabilities
}

func (s *session) name() string { return cmp.Or(s.options.Identity, "mcpaudit") }

func (s *session) version() string { return cmp.Or(s.options.Version, "0.0.0") }

// withMeta adds what the stateless revision wants on every message.
func (s *session) withMeta(params map[string]any) map[string]any {
	if !s.options.Discover {
		if params == nil {
			return map[string]any{} // the official SDKs take no "params": null
		}
		return params
	}
	with := map[string]any{"_meta": map[string]any{
		metaVersion: stateless, metaClient: s.clientInfo(), metaCapabilities: s.capabilities(),
	}}
	maps.Copy(with, params)
	return with
}

// handshake agrees on a revision and returns the server's capabilities, by
// name; not ok when there is nothing to go on with.
func (s *session) handshake(ctx context.Context) (advertised map[string]json.RawMessage, ok bool) {
	if err := s.wire.open(ctx, s.name()+"/"+s.version(), s.options.Handshake); err != nil {
		s.unopened(err)
		return nil, false
	}
	defer func() {
		if !ok {
			s.knock(ctx)
		}
	}()
	if s.options.Discover {
		s.wire.agree(stateless)
		return s.discover(ctx)
	}
	raw, err := s.initialize(ctx, s.revision())
	var refused *rpcError
	if errors.As(err, &refused) {
		if other, ok := refused.offers(s.revision()); ok {
			raw, err = s.initialize(ctx, other)
		}
	}
	if err != nil {
		s.result.NeedDiscover = s.mayDiscover(err)
		if errors.As(err, &refused) {
			s.fail(report.ReasonProtocolError, "the server refused initialize: %v", refused)
		}
		return nil, false
	}
	result := manifest.Object(raw)
	s.result.ProtocolVersion = manifest.Text(result["protocolVersion"])
	if !slices.Contains(revisions, s.result.ProtocolVersion) {
		s.fail(report.ReasonProtocolError, "the server answered initialize with the unknown revision %q",
			sample([]byte(s.result.ProtocolVersion)))
		return nil, false
	}
	s.identify(result["serverInfo"], result)
	s.wire.agree(s.result.ProtocolVersion)
	if s.notify("notifications/initialized", nil) != nil {
		return nil, false
	}
	s.wire.under.Listen(ctx)
	if s.awaitQuiet(ctx) != nil {
		return nil, false
	}
	return manifest.Object(result["capabilities"]), true
}

// unopened enters why nothing could be sent.
func (s *session) unopened(err error) {
	switch {
	case errors.Is(err, errTimeout):
		s.fail(report.ReasonTimeout, "the server did not say within %s where to send messages to", s.options.Handshake)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		s.failed(outOfTime("before the session had begun"))
	default:
		s.fail(report.ReasonProtocolError, "the session could not begin: %v", err)
	}
}

// mayDiscover reports whether a server that did not answer initialize with a result may
// speak the stateless revision: it has refused it, by a JSON-RPC error or an HTTP one
// that is not about authorization, or said nothing at all.
func (s *session) mayDiscover(err error) bool {
	var refused *rpcError
	var failed *transport.Error
	switch {
	case errors.As(err, &refused):
		return true
	case errors.As(err, &failed):
		return slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed}, failed.Status)
	}
	return errors.Is(err, errTimeout) && s.wire.insteadOf() == ""
}

func (s *session) initialize(ctx context.Context, version string) (json.RawMessage, error) {
	return s.request(ctx, report.PhaseHandshake, server, methodInitialize, s.introduction(version))
}

// introduction are the parameters of the request that begins a session.
func (s *session) introduction(version string) map[string]any {
	return map[string]any{"protocolVersion": version, "capabilities": s.capabilities(), "clientInfo": s.clientInfo()}
}

// revision is the one that is asked for first.
func (s *session) revision() string { return cmp.Or(s.options.Revision, newest) }

// offers is the newest revision with a handshake that the server names when it
// refuses one (specification 2025-11-25, lifecycle, "error handling").
func (e *rpcError) offers(asked string) (string, bool) {
	supported, _ := array(manifest.Object(e.data)["supported"])
	for _, known := range slices.Backward(revisions) {
		if known != asked && slices.ContainsFunc(supported, func(v json.RawMessage) bool { return manifest.Text(v) == known }) {
			return known, true
		}
	}
	return "", false
}

func (s *session) discover(ctx context.Context) (map[string]json.RawMessage, bool) {
	raw, err := s.request(ctx, report.PhaseHandshake, server, methodDiscover, nil)
	if err != nil {
		var refused *rpcError
		if errors.As(err, &refused) {
			s.fail(report.ReasonProtocolError, "the server refused server/discover: %v", refused)
		}
		return nil, false
	}
	result := manifest.Object(raw)
	var versions []string
	if json.Unmarshal(result["supportedVersions"], &versions) != nil || !slices.Contains(versions, stateless) {
		s.fail(report.ReasonProtocolError, "the server answered server/discover without the revision %s", stateless)
		return nil, false
	}
	s.result.ProtocolVersion = stateless
	info := result["serverInfo"]
	if info == nil {
		info = manifest.Object(result["_meta"])[metaServer]
	}
	s.identify(info, result)
	return manifest.Object(result["capabilities"]), true
}

// identify takes over what the server says about itself.
func (s *session) identify(info json.RawMessage, result map[string]json.RawMessage) {
	of := manifest.Object(info)
	s.result.ServerName, s.result.ServerVersion = manifest.Text(of["name"]), manifest.Text(of["version"])
	s.result.Manifest.ServerName = of["name"]
	s.result.Manifest.Instructions = result["instructions"]
	s.result.Manifest.Capabilities = result["capabilities"]
}

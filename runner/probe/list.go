package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// The bounds of one list. A longer one makes the manifest incomplete.
const (
	maxPages     = 128
	maxListed    = 10_000
	maxListBytes = 32 << 20
	// maxUnsteady bounds the repetition of the lists because the server
	// announced a change before anything was called.
	maxUnsteady = 3
)

// kind describes how one kind of capability is listed.
type kind struct {
	of         report.CapabilityKind
	capability string // member of the server's capabilities
	method     string
	key        string // member of the result with the list
	changed    string // notification that the list has changed
}

var kinds = []kind{
	{report.CapabilityTool, "tools", "tools/list", "tools", toolsChanged},
	{report.CapabilityResource, "resources", "resources/list", "resources", resourcesChanged},
	{report.CapabilityResourceTemplate, "resources", "resources/templates/list", "resourceTemplates", resourcesChanged},
	{report.CapabilityPrompt, "prompts", "prompts/list", "prompts", promptsChanged},
}

// list lists everything that the server advertises, again when it announces
// meanwhile that a list has changed: some servers add what the client's
// capabilities allow only after the handshake.
func (s *session) list(ctx context.Context) error {
	for range maxUnsteady {
		s.wire.takeChanged()
		m, whole, err := s.lists(ctx)
		for _, k := range kinds {
			*s.result.Manifest.List(k.of) = *m.List(k.of)
		}
		s.result.Listed = whole
		if err != nil || len(s.wire.takeChanged()) == 0 {
			return err
		}
	}
	return nil
}

// lists lists everything once; whole: every list was complete. An error ends the session.
func (s *session) lists(ctx context.Context) (m manifest.Manifest, whole bool, err error) {
	whole = true
	for _, k := range kinds {
		if _, has := s.advertised[k.capability]; !has {
			continue
		}
		items, all, err := s.listed(ctx, k)
		*m.List(k.of) = items
		whole = whole && all
		if err != nil {
			return m, whole, err
		}
	}
	return m, whole, nil
}

// listed lists one kind. Without the tools there is nothing to exercise; any other list without an answer in
// time is Silent: it keeps its items, and is not asked for again. An error ends the session.
func (s *session) listed(ctx context.Context, k kind) (items []json.RawMessage, whole bool, err error) {
	before := *s.result.Manifest.List(k.of)
	if slices.Contains(s.result.Silent, k.of) {
		return before, true, nil
	}
	items, whole, err = s.pages(ctx, k)
	switch {
	case errors.Is(err, errNoList): // it may advertise the capability and have no such list: an empty one
		whole = true
	case errors.Is(err, errTimeout) && k.optional():
		s.result.Silent = append(s.result.Silent, k.of)
		if len(before) > 0 {
			items = before
		}
		return items, true, nil
	}
	return items, whole, onlyFatal(err)
}

// optional reports whether the session can go on without the list.
func (k kind) optional() bool { return k.of != report.CapabilityTool }

// silentTime bounds a list that had no answer in another session.
const silentTime = 2 * time.Second

// patienceFor returns how long a list may take. An optional one leaves time for the calls.
func (s *session) patienceFor(ctx context.Context, k kind) time.Duration {
	limit := s.longestRequest()
	if !k.optional() {
		return limit
	}
	if len(s.result.Silent) > 0 {
		limit = promptPatience
	}
	if slices.Contains(s.options.Silent, k.of) {
		limit = silentTime
	}
	if deadline, has := ctx.Deadline(); has {
		limit = min(limit, time.Until(deadline)/4)
	}
	return limit
}

// unadvertisedTime bounds the list of tools of a server that advertises none.
const unadvertisedTime = 2 * time.Second

// listUnadvertised requests at the end the tools of a server that advertises none:
// some clients ignore the capabilities (the official SDKs by default), and would get
// tools that were not audited. Other outcomes do not count. An error ends the session.
func (s *session) listUnadvertised(ctx context.Context) error {
	tools, before := kinds[0], s.result.Incomplete
	if _, has := s.advertised[tools.capability]; has {
		return nil
	}
	raw, err := s.ask(ctx, query{phase: report.PhaseList, of: server, method: tools.method, limit: unadvertisedTime, lenient: true})
	s.result.Incomplete = before
	if items, _ := array(manifest.Object(raw)[tools.key]); len(items) > 0 {
		s.fail(report.ReasonProtocolError, "the server lists %d tools, and does not advertise that it has any: they were not exercised", len(items))
	}
	return onlyFatal(err)
}

// pages reads one list page by page. A list with a fault is not whole.
func (s *session) pages(ctx context.Context, k kind) (items []json.RawMessage, whole bool, err error) {
	seen, size := map[string]bool{}, 0
	var params map[string]any
	for range maxPages {
		result, err := s.page(ctx, k, params)
		if result == nil {
			return items, false, err
		}
		page, ok := array(result[k.key])
		if !ok {
			s.fail(report.ReasonProtocolError, "the answer to %s has no list of %s", k.method, k.key)
			return items, false, nil
		}
		for _, item := range page {
			size += len(item)
		}
		items = append(items, page...)
		if len(items) > maxListed || size > maxListBytes {
			s.fail(report.ReasonProtocolError, "the answer to %s is longer than %d items or %d MiB",
				k.method, maxListed, maxListBytes>>20)
			s.breach(breach.LongList, fmt.Sprintf("%s: %d items", k.method, len(items)))
			return items[:min(len(items), maxListed)], false, nil
		}
		cursor := result["nextCursor"]
		if cursor == nil || string(cursor) == "null" || string(cursor) == `""` {
			return items, true, nil
		}
		if seen[string(cursor)] {
			s.fail(report.ReasonProtocolError, "%s is an endless list: the cursor %q came twice", k.method, sample(cursor))
			s.breach(breach.CursorTwice, fmt.Sprintf("%s: nextCursor %s", k.method, sample(cursor)))
			return items, false, nil
		}
		seen[string(cursor)] = true
		params = map[string]any{"cursor": cursor}
	}
	s.fail(report.ReasonProtocolError, "%s has more than %d pages", k.method, maxPages)
	s.breach(breach.LongList, fmt.Sprintf("%s: %d pages", k.method, maxPages))
	return items, false, nil
}

// array decodes a JSON array; false for anything else.
func array(raw json.RawMessage) ([]json.RawMessage, bool) {
	var items []json.RawMessage
	err := json.Unmarshal(raw, &items)
	return items, err == nil && items != nil
}

// errNoList: the server does not know the method.
var errNoList = errors.New("no such list")

// page requests one page. Without a result there is an error, which makes the session incomplete
// unless it is errNoList, or errTimeout of an optional list.
func (s *session) page(ctx context.Context, k kind, params map[string]any) (map[string]json.RawMessage, error) {
	q := query{phase: report.PhaseList, of: server, method: k.method, params: params, limit: s.patienceFor(ctx, k), lenient: k.optional()}
	raw, err := s.ask(ctx, q)
	var refused *rpcError
	if errors.As(err, &refused) && refused.Code != codeMethodNotFound && s.blamed(refused) {
		raw, err = s.ask(ctx, q)
	}
	switch {
	case err == nil:
		if result := manifest.Object(raw); result != nil {
			return result, nil
		}
		return map[string]json.RawMessage{}, nil
	case !errors.As(err, &refused):
		return nil, err
	case refused.Code == codeMethodNotFound && params == nil:
		return nil, errNoList
	}
	s.fail(report.ReasonProtocolError, "the server refused %s: %v", k.method, refused)
	return nil, err
}

// mostBlamed bounds the lists that are requested once more because they were refused.
const mostBlamed = 4

// blamed tells the listener of calls about a refused list, and reports whether to request it once more: what is listed
// may come from a local service, which is simulated from its first refusal on.
func (s *session) blamed(refused *rpcError) bool {
	if s.wire.conn.Calling == nil || s.blames >= mostBlamed {
		return false
	}
	s.blames++
	s.wire.conn.Calling(Calling{Ended: true, Refusal: refused.said()})
	return true
}

// onlyFatal returns an error after which the session cannot go on; nil for any other.
func onlyFatal(err error) error {
	if fatal(err) && !errors.Is(err, errNoList) {
		return err
	}
	return nil
}

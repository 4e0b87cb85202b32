package probe

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// maxInputRounds is how often one call is sent again because the server answered
// that it needs input (revision 2026-07-28).
const maxInputRounds = 4

// exercise calls everything of one kind once, in the order of the list. done
// has the names that were called: what is listed twice is called once. The
// error is one that ends the session.
func (s *session) exercise(ctx context.Context, of report.CapabilityKind, list []json.RawMessage, done map[string]bool) error {
	for _, raw := range list {
		item := manifest.Items(of, []json.RawMessage{raw})[0]
		if item.Name == "" {
			s.fail(report.ReasonProtocolError, "the server lists a %s without a name", report.Capability{Kind: of})
			continue
		}
		if done[item.Name] {
			continue
		}
		done[item.Name] = true
		if err := s.exerciseItem(ctx, of, item); err != nil {
			return err
		}
	}
	return nil
}

// exerciseItem calls one item, and a second time with more arguments when the
// first was answered with an error.
func (s *session) exerciseItem(ctx context.Context, of report.CapabilityKind, item manifest.Item) error {
	count := s.coverage(of)
	count.Listed++
	answered, accepted := false, false
	for _, params := range s.attempts(of, item) {
		ok, err := s.call(ctx, report.Capability{Kind: of, Name: item.Name}, params)
		if fatal(err) {
			return err
		}
		accepted = ok
		if errors.Is(err, errTimeout) || errors.Is(err, errTooLong) {
			break
		}
		answered = true
		if accepted {
			break
		}
	}
	if answered {
		count.Called++
	}
	if accepted {
		count.Accepted++
	}
	return nil
}

func (s *session) coverage(of report.CapabilityKind) *report.Exercised {
	switch of {
	case report.CapabilityTool:
		return &s.result.Coverage.Tools
	case report.CapabilityResource:
		return &s.result.Coverage.Resources
	case report.CapabilityResourceTemplate:
		return &s.result.Coverage.ResourceTemplates
	default:
		return &s.result.Coverage.Prompts
	}
}

// attempts are the parameters to call an item with: for tools and prompts a
// second set, with the optional arguments, in case the first is not accepted.
func (s *session) attempts(of report.CapabilityKind, item manifest.Item) []map[string]any {
	some := s.options.Inputs
	some.About = item.Name
	all := some
	some.All, all.All = false, true
	switch of {
	case report.CapabilityTool:
		schema := item.Members["inputSchema"]
		first, second := inputs.Arguments(schema, some), inputs.Arguments(schema, all)
		sets := []map[string]any{{"name": item.Name, "arguments": first}}
		if string(first) != string(second) {
			sets = append(sets, map[string]any{"name": item.Name, "arguments": second})
		}
		return sets
	case report.CapabilityPrompt:
		list := item.Members["arguments"]
		first, second := inputs.Prompt(list, some), inputs.Prompt(list, all)
		sets := []map[string]any{{"name": item.Name, "arguments": first}}
		if !maps.Equal(first, second) {
			sets = append(sets, map[string]any{"name": item.Name, "arguments": second})
		}
		return sets
	case report.CapabilityResourceTemplate:
		uri, err := inputs.Expand(item.Name, some)
		if err != nil {
			s.fail(report.ReasonProtocolError, "the template %q: %v", sample([]byte(item.Name)), err)
			return nil
		}
		return []map[string]any{{"uri": uri}}
	default:
		return []map[string]any{{"uri": item.Name}}
	}
}

// methods are what calls a kind.
var methods = map[report.CapabilityKind]string{
	report.CapabilityTool: "tools/call", report.CapabilityResource: "resources/read",
	report.CapabilityResourceTemplate: "resources/read", report.CapabilityPrompt: "prompts/get",
}

// call calls once, and answers what input the server asks for in the result; one
// that asks again and again has not accepted the call. accepted: a result came,
// and it does not say that it is an error.
func (s *session) call(ctx context.Context, of report.Capability, params map[string]any) (accepted bool, err error) {
	for range maxInputRounds {
		raw, err := s.request(ctx, report.PhaseCall, of, methods[of.Kind], params)
		if err != nil {
			return false, err
		}
		result := manifest.Object(raw)
		if manifest.Text(result["resultType"]) != "input_required" {
			return result != nil && string(result["isError"]) != "true", nil
		}
		params = s.withInput(params, result)
	}
	return false, nil
}

// withInput answers the requests in an input_required result (specification
// 2026-07-28, "multi round-trip requests").
func (s *session) withInput(params map[string]any, result map[string]json.RawMessage) map[string]any {
	next := maps.Clone(params)
	if state, has := result["requestState"]; has {
		next["requestState"] = state
	}
	responses := map[string]any{}
	for id, raw := range manifest.Object(result["inputRequests"]) {
		request := manifest.Object(raw)
		if response := answer(manifest.Text(request["method"]), request["params"], s.options.Inputs); response != nil {
			responses[id] = response
		}
	}
	if len(responses) > 0 {
		next["inputResponses"] = responses
	}
	return next
}

package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// maxInputRounds bounds how often one call is sent again with input that the server asked for
// (revision 2026-07-28).
const maxInputRounds = 4

// methods call a kind.
var methods = map[report.CapabilityKind]string{
	report.CapabilityTool: "tools/call", report.CapabilityResource: "resources/read",
	report.CapabilityResourceTemplate: "resources/read", report.CapabilityPrompt: "prompts/get",
}

// reply is the answer to a call.
type reply struct {
	// accepted: a result came, and it does not say that it is an error.
	accepted bool
	result   json.RawMessage
	// text of the error, and the exceptions that the server logged meanwhile.
	text, raised string
}

// why returns all that is known of why a call was refused.
func (r reply) why() string {
	if r.raised == "" {
		return r.text
	}
	return r.text + "\n" + r.raised
}

// blames returns what may be said of the arguments: Pydantic's errors in a log are about answers of the server's
// service, for those about arguments are answered.
func (r reply) blames() string {
	if strings.Contains(r.raised, "input_value=") {
		return r.text
	}
	return r.why()
}

// maxExcuse is the length of the longest result that is only an excuse, in bytes.
const maxExcuse = 1024

// excuses matches how a result begins that reports a failure although it does not say that it is an error.
var excuses = lazyregexp.New(`(?i)^[^\w{\["]{0,8}(?:error|failed|failure|exception|traceback|unable to|cannot|can't|could not|couldn't)\b|` +
	`^[^\w{\["]{0,8}(?:[\w.-]+ ){1,2}(?:error|failure|exception):|` +
	`^[^.\n]{0,80}["'\x60] (?:is |was )?not found\b|^\s*\{\s*"(?:error|isError)"\s*:\s*(?:"[^"]|true|\{)|^\s*\{\s*"(?:success|ok)"\s*:\s*false\b`)

// excuse returns the text of an accepted call that reports a failure; "" for any other. There is as much to learn from
// it as from an error, and it shows no more of a tool.
func (r reply) excuse() string {
	if !r.accepted || len(r.result) > 2*maxExcuse {
		return ""
	}
	if text := said(r.result); len(text) <= maxExcuse && excuses.MatchString(text) {
		return text
	}
	return ""
}

// said returns the text of the result, or of the error.
func (r reply) said() string {
	if r.accepted {
		return said(r.result)
	}
	return r.text
}

// call calls once, and provides the input that the server asks for in the result. A server
// that keeps asking has not accepted the call. Errors are those of ask
// without those that are answers; see refusal.
func (s *session) call(ctx context.Context, t *target, c inputs.Case) (got reply, err error) {
	logged := s.wire.conn.Logged
	if logged != nil {
		_ = logged() // of before
	}
	if told := s.wire.conn.Calling; told != nil {
		told(Calling{Arguments: c.Arguments})
		defer func() {
			if errors.Is(err, errTimeout) { // for want of something, perhaps
				got.text = err.Error()
			}
			told(Calling{Ended: true, Refusal: cmp.Or(got.why(), got.excuse())})
		}()
	}
	if logged != nil {
		defer func() {
			if got.text != "" {
				got.raised = raised(logged())
			}
		}()
	}
	t.limit = s.patience(s.longest(t))
	q := query{
		phase: report.PhaseCall, of: t.of, method: methods[t.of.Kind], params: params(t, c),
		arguments: c, limit: t.limit, again: t.twice,
	}
	for range maxInputRounds {
		raw, err := s.ask(ctx, q)
		if err == nil && t.task {
			raw, err = s.awaitTask(ctx, q, raw)
		}
		if said, answered := refusal(err); answered {
			return reply{text: said}, nil
		}
		if err != nil {
			return reply{}, err
		}
		result := manifest.Object(raw)
		if manifest.Text(result["resultType"]) != "input_required" {
			if string(result["isError"]) == "true" {
				return reply{text: said(raw), result: raw}, nil
			}
			return reply{accepted: result != nil, result: raw}, nil
		}
		q.params = s.withInput(q.params, result)
	}
	return reply{}, nil
}

// refusal returns what an error of JSON-RPC, or a status of HTTP, says; false of an error
// that is no answer.
func refusal(err error) (said string, answered bool) {
	var refused *rpcError
	var failed *transport.Error
	switch {
	case errors.As(err, &refused):
		return refused.said(), true
	case errors.As(err, &failed) && failed.Status != 0 && !failed.Gone:
		return failed.Text, true
	}
	return "", false
}

// params returns the params of a call.
func params(t *target, c inputs.Case) map[string]any {
	switch t.of.Kind {
	case report.CapabilityTool, report.CapabilityPrompt:
		all := map[string]any{"name": t.of.Name, "arguments": c.Arguments}
		if t.task {
			all["task"] = map[string]any{"ttl": taskLife.Milliseconds()}
		}
		return all
	default:
		return map[string]any{"uri": manifest.Object(c.Arguments)["uri"]}
	}
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
		s.outputs.add(report.OutputRequest, manifest.Text(request["method"]), said(request["params"]))
		if response := s.answer(manifest.Text(request["method"]), request["params"]); response != nil {
			responses[id] = response
		}
	}
	if len(responses) > 0 {
		next["inputResponses"] = responses
	}
	return next
}

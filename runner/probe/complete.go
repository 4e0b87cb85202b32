package probe

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// The bounds of completions: arguments of one capability, and requests in all.
const (
	maxParameters  = 16
	maxCompletions = 128
)

// promptArguments returns the names in the "arguments" of a prompt.
func promptArguments(raw json.RawMessage) (names []string) {
	list, _ := array(raw)
	for _, argument := range list {
		if name := manifest.Text(manifest.Object(argument)["name"]); name != "" && len(names) < maxParameters {
			names = append(names, name)
		}
	}
	return names
}

// expressions matches those of a URI template (RFC 6570, section 2.2).
var expressions = lazyregexp.New(`\{[+#./;?&]?([^{}]+)\}`)

// templateVariables returns the names in a URI template.
func templateVariables(template string) (names []string) {
	for _, found := range expressions.FindAllStringSubmatch(template, maxParameters) {
		for variable := range strings.SplitSeq(found[1], ",") {
			name, _, _ := strings.Cut(strings.TrimSuffix(variable, "*"), ":")
			if name != "" && len(names) < maxParameters {
				names = append(names, name)
			}
		}
	}
	return names
}

// complete requests values for the arguments of prompts and templates, for the pool.
// A request for one argument names the values of those before it.
func (s *session) complete(ctx context.Context, targets []*target) error {
	if _, has := s.advertised["completions"]; !has {
		return nil
	}
	for _, t := range targets {
		if t.out {
			continue
		}
		if err := s.completions(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// completions asks for the values of the arguments of one target.
func (s *session) completions(ctx context.Context, t *target) error {
	known := map[string]string{}
	for _, name := range t.parameters {
		called, values := false, []string(nil)
		for _, prefix := range prefixes {
			if s.result.Coverage.Completions.Called >= maxCompletions || !s.hasTime() {
				break
			}
			answered, offered, err := s.completion(ctx, t, name, prefix, known)
			if err != nil {
				return err
			}
			called = called || answered
			if values = offered; len(values) > 0 || values == nil {
				break
			}
		}
		count(&s.result.Coverage.Completions, called, values != nil)
		if len(values) > 0 {
			known[name] = values[0]
			s.pool.Offer("the completion of "+t.source(), name, values)
		}
	}
	return nil
}

// prefixes of completions, tried in turn: some servers offer nothing for an empty one.
var prefixes = []string{"", "1", "a"}

// completion asks for the values of one argument; values is nil when they were
// refused. The error is one that ends the session.
func (s *session) completion(
	ctx context.Context, t *target, name, prefix string, known map[string]string,
) (called bool, values []string, err error) {
	ref := map[string]any{"type": "ref/prompt", "name": t.of.Name}
	if t.of.Kind == report.CapabilityResourceTemplate {
		ref = map[string]any{"type": "ref/resource", "uri": t.of.Name}
	}
	argument := map[string]any{"name": name, "value": prefix}
	params := map[string]any{"ref": ref, "argument": argument}
	if len(known) > 0 {
		params["context"] = map[string]any{"arguments": known}
	}
	asked, _ := json.Marshal(argument) // of strings: no error
	raw, answered, err := s.extra(ctx, query{of: t.of, method: "completion/complete", params: params, arguments: inputs.Case{Arguments: asked}})
	if raw == nil {
		return answered, nil, err
	}
	s.outputs.answered(report.OutputList, said(raw))
	list, _ := array(manifest.Object(manifest.Object(raw)["completion"])["values"])
	values = []string{}
	for _, value := range list {
		if text := manifest.Text(value); text != "" {
			values = append(values, text)
		}
	}
	return true, values, nil
}

// extra makes a request besides the calls. Without a result it was refused or not
// answered; the error is one that ends the session.
func (s *session) extra(ctx context.Context, q query) (result json.RawMessage, answered bool, err error) {
	q.phase, q.limit = report.PhaseCall, s.patience(s.options.CallTimeout)
	q.lenient = q.limit < s.options.CallTimeout
	s.tally.Total++
	raw, err := s.ask(ctx, q)
	var refused *rpcError
	switch {
	case err == nil:
		s.tally.Done++
		return raw, true, nil
	case errors.As(err, &refused):
		s.outputs.answered(report.OutputError, refused.said())
		return nil, true, nil
	}
	return nil, false, onlyFatal(err)
}

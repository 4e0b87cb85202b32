package probe

import (
	"context"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// favoured is how often one tool is called before any other.
const favoured = 12

// favour calls one tool, with different texts if it takes any, before any other is called: a model that uses a server for
// one thing does so, and a server could tell an audit by the tools that it tries in turn.
func (s *session) favour(ctx context.Context) error {
	t := s.favourite()
	if t == nil {
		return nil
	}
	draw := s.draw()
	s.begin(methods[t.of.Kind], report.PhaseCall, t.of)
	for range favoured {
		arguments, varied := inputs.Respoken(s.options.Given[t.of.Name], draw)
		if !varied {
			arguments = s.options.Given[t.of.Name]
		}
		s.used.add(t.of, arguments, nil)
		if _, err := s.call(ctx, t, inputs.Case{Arguments: arguments}); err != nil {
			s.missed(t, err)
			return onlyFatal(err)
		}
	}
	return nil
}

// favourite returns the tool that Options.Favourite chooses from those that change little and have known
// arguments, except those that the operator has chosen; nil for none.
func (s *session) favourite() *target {
	var all []*target
	for _, t := range ordered(s.targets) {
		if t.of.Kind == report.CapabilityTool && !t.out && t.rank.effect <= creates && s.options.Given[t.of.Name] != nil && s.options.Chosen[t.of.Name] == nil {
			all = append(all, t)
		}
	}
	if s.options.Favourite == 0 || len(all) == 0 {
		return nil
	}
	return all[(s.options.Favourite-1)%len(all)]
}

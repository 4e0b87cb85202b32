package probe

import (
	"context"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// mostRefusals bounds the refused calls of one tool, and of all.
const mostRefusals, mostAllRefusals = 24, 72

// repeatRefusals makes calls that are refused: what a server says then, and its error codes, may hold something, too.
func (s *session) repeatRefusals(ctx context.Context) error {
	if len(s.options.Refused) == 0 {
		return nil
	}
	often := max(1, min(mostRefusals, mostAllRefusals/len(s.options.Refused)))
	for _, t := range ordered(s.targets) {
		arguments := s.options.Refused[t.of.Name]
		for n := 0; n < often && arguments != nil && !t.out; n++ {
			if _, err := s.call(ctx, t, inputs.Case{Arguments: arguments}); err != nil {
				s.missed(t, err)
				if onlyFatal(err) != nil {
					return err
				}
			}
		}
	}
	return nil
}

// deny keeps a refused call, preferably one that a model would make: checks of the arguments say little of the tool.
func (t *target) deny(c inputs.Case) {
	better := c.Shape.Proper() && !t.denied.Shape.Proper()
	if (better || t.denied.Arguments == nil) && len(c.Arguments) <= maxAccepted {
		t.denied = c
	}
}

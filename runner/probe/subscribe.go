package probe

import (
	"context"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// maxSubscriptions bounds the subscriptions. All resources count as listed.
const maxSubscriptions = 32

// The levels of logging that are requested: everything, and what most clients show.
const completeLog, usualLog = "debug", "warning"

// setLevel requests the log of a server that logs, from a level on. A refusal does not count.
func (s *session) setLevel(ctx context.Context, level string) error {
	if _, has := s.advertised["logging"]; !has || s.options.Discover {
		return nil
	}
	_, err := s.request(ctx, report.PhaseHandshake, server, "logging/setLevel", map[string]any{"level": level})
	if fatal(err) {
		return err
	}
	return nil
}

// subscribe subscribes to resources, and returns those that it has.
func (s *session) subscribe(ctx context.Context) (held []*target, err error) {
	offers := manifest.Object(s.advertised["resources"])
	if string(offers["subscribe"]) != "true" || s.options.Discover {
		return nil, nil
	}
	for _, t := range s.targets {
		if t.of.Kind != report.CapabilityResource || t.out {
			continue
		}
		answered, accepted := false, false
		if s.result.Coverage.Subscriptions.Called < maxSubscriptions && s.hasTime() {
			if answered, accepted, err = s.subscription(ctx, t, "resources/subscribe"); err != nil {
				return nil, err
			}
		}
		count(&s.result.Coverage.Subscriptions, answered, accepted)
		if accepted {
			held = append(held, t)
		}
	}
	return held, nil
}

// unsubscribe gives up subscriptions, while there is time.
func (s *session) unsubscribe(ctx context.Context, held []*target) error {
	for _, t := range held {
		if !s.hasTime() {
			break
		}
		if _, _, err := s.subscription(ctx, t, "resources/unsubscribe"); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) subscription(ctx context.Context, t *target, method string) (answered, accepted bool, err error) {
	raw, answered, err := s.extra(ctx, query{of: t.of, method: method, params: params(t, t.again), arguments: t.again})
	return answered, raw != nil, err
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/terminal"
)

// unattended is how long an audit may go without a status before it is said that
// nobody seems to be there.
const unattended = 20 * time.Second

// wait looks at an audit until it is decided, and says what it is at. An API server
// that does not answer for a while is waited for as well.
func (s *session) wait(ctx context.Context, a *api, audit *v1alpha1.MCPServerAudit) (*v1alpha1.MCPServerAudit, error) {
	began := s.now()
	progress := s.progress(place(audit))
	defer progress.end()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		now, err := a.audit(ctx, audit.Name)
		elapsed := s.now().Sub(began)
		switch {
		case err != nil && !passing(err):
			return nil, err
		case err != nil:
			progress.say(err.Error(), elapsed)
		case now.UID != audit.UID:
			return nil, fmt.Errorf("%s was deleted, and made again by somebody else", place(audit))
		case decided(now):
			return now, nil
		default:
			progress.say(at(now, elapsed), elapsed)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// passing reports whether an error may go away by itself.
func passing(err error) bool {
	return !errors.Is(err, errAbsent) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) &&
		!apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !unknownKind(err)
}

// at says what an audit is at.
func at(audit *v1alpha1.MCPServerAudit, elapsed time.Duration) string {
	switch running := auditing(audit); {
	case running != nil:
		return running.Reason + ": " + running.Message
	case elapsed > unattended:
		return "Nothing takes it up: does the operator run? (kubectl get pods -n mcpaudit-system)"
	}
	return "Waiting for the operator"
}

// progress shows what an audit is at: on one line of a terminal, and elsewhere a
// line for each change.
type progress struct {
	session *session
	of      string
	line    terminal.Progress
	last    string
}

func (s *session) progress(of string) *progress {
	return &progress{session: s, of: of, line: terminal.NewProgress(s.Stderr)}
}

func (p *progress) say(text string, elapsed time.Duration) {
	brief, _, _ := strings.Cut(text, " (") // the line has no room for what is in brackets
	p.line.Step(fmt.Sprintf("%5s  %s  %s", duration.HumanDuration(elapsed), p.of, brief))
	if text != p.last && !terminal.Is(p.session.Stderr) {
		p.session.tell("%s: %s", p.of, text)
	}
	p.last = text
}

func (p *progress) end() { p.line.Clear() }

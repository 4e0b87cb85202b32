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
	"github.com/mcpaudit/mcpaudit/cmd/cli"
)

// noOperatorAfter limits how long an audit may have no status before the command reports that the
// operator may not be running.
const noOperatorAfter = 20 * time.Second

// wait polls an audit until it is decided and shows its progress. It survives short outages of
// the API server.
func (s *session) wait(ctx context.Context, a *api, audit *v1alpha1.MCPServerAudit) (*v1alpha1.MCPServerAudit, error) {
	began := s.now()
	progress := s.progress(place(audit))
	defer progress.end()
	for {
		now, err := a.audit(ctx, audit.Name)
		elapsed := s.now().Sub(began)
		switch {
		case err != nil && !transient(err):
			return nil, err
		case err != nil:
			progress.show(err.Error(), elapsed)
		case now.UID != audit.UID:
			return nil, fmt.Errorf("%s was deleted and created again by somebody else", place(audit))
		case decided(now):
			return now, nil
		default:
			progress.show(currentStep(now, elapsed), elapsed)
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

// transient reports whether an error may go away on its own.
func transient(err error) bool {
	return !errors.Is(err, errAbsent) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) &&
		!apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !unknownKind(err)
}

// currentStep describes the progress of an audit.
func currentStep(audit *v1alpha1.MCPServerAudit, elapsed time.Duration) string {
	switch running := auditing(audit); {
	case running != nil:
		return running.Reason + ": " + running.Message
	case elapsed > noOperatorAfter:
		return "No status yet: is the operator running? (kubectl get pods -n mcpaudit-system)"
	}
	return "Waiting for the operator"
}

// progress shows an audit's step: on one line of a terminal, elsewhere on a line per change.
type progress struct {
	session *session
	of      string
	line    cli.Progress
	last    string
}

func (s *session) progress(of string) *progress {
	return &progress{session: s, of: of, line: cli.NewProgress(s.stderr())}
}

func (p *progress) show(text string, elapsed time.Duration) {
	brief, _, _ := strings.Cut(text, " (") // parentheses do not fit on the line
	p.line.Step(fmt.Sprintf("%5s  %s  %s", duration.HumanDuration(elapsed), p.of, brief))
	if text != p.last && !cli.IsTerminal(p.session.stderr()) {
		p.session.note("%s: %s", p.of, text)
	}
	p.last = text
}

func (p *progress) end() { p.line.Clear() }

package audit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/schedule"
)

// Every tagged image is checked once per ImageCheckInterval, at an offset derived from the
// audit's UID. The answer is kept in memory: nothing is written until something changed, and a
// starting manager does not check all images at once.
//
// Audits must not wait for slow or unavailable registries: one reconciliation at a time checks
// a tag, with a short timeout. Package imageref skips a registry that did not answer; checks
// during that time are skipped.
const (
	tagTimeout = 5 * time.Second
	// tagPause is the retry interval if another check is running.
	tagPause = 15 * time.Second
)

var errNoAnswer = errors.New("no answer")

// tags has the registries' answers. The zero value is ready for use.
type tags struct {
	mutex   sync.Mutex
	answers map[types.NamespacedName]answer
	asking  bool
}

// answer is the state of one audit's tag.
type answer struct {
	uid  types.UID
	turn int64
	// digest is the tag's digest at the last check, relative to run; empty if the registry did
	// not answer. The next audit resolves the tag itself.
	digest v1alpha1.Digest
	run    string
}

// digest returns the tag's last known digest.
func (t *tags) digest(audit *v1alpha1.MCPServerAudit) v1alpha1.Digest {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	a := t.answers[client.ObjectKeyFromObject(audit)]
	if audit.Status.Trigger == nil || a.uid != audit.UID || a.run != audit.Status.Trigger.Run {
		return ""
	}
	return a.digest
}

// last returns an audit's last check, if known.
func (t *tags) last(audit *v1alpha1.MCPServerAudit) (int64, bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	a, known := t.answers[client.ObjectKeyFromObject(audit)]
	return a.turn, known && a.uid == audit.UID
}

// take records that a check was due, and reports whether the caller has to ask the registry. If ask
// is set and another check runs, it records nothing.
func (t *tags) take(audit *v1alpha1.MCPServerAudit, turn int64, ask bool) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if ask && t.asking {
		return false
	}
	if t.answers == nil {
		t.answers = map[types.NamespacedName]answer{}
	}
	t.answers[client.ObjectKeyFromObject(audit)] = answer{uid: audit.UID, turn: turn}
	t.asking = t.asking || ask
	return ask
}

// answered completes take.
func (t *tags) answered(audit *v1alpha1.MCPServerAudit, digest string, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.asking = false
	key := client.ObjectKeyFromObject(audit)
	a := t.answers[key]
	switch {
	case a.uid != audit.UID:
		return // deleted meanwhile
	case err == nil:
		a.digest, a.run = v1alpha1.Digest(digest), audit.Status.Trigger.Run
	case errors.Is(err, imageref.ErrBusy):
		a.turn-- // the check did not happen
	}
	t.answers[key] = a
}

func (t *tags) forget(key types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.answers, key)
}

// checkTag asks the registry for the tag's digest when a check is due. It only updates the
// answers. An audit that is new to this manager counts as checked, unless it waits to run: only
// the registry then knows for what digest.
func (r *Reconciler) checkTag(ctx context.Context, s *session) {
	if !r.checksTag(s.audit) {
		return
	}
	turn, _ := r.turn(s)
	last, known := r.tags.last(s.audit)
	if known && last >= turn {
		return
	}
	waits := s.since()
	if !r.tags.take(s.audit, turn, known || !waits.IsZero()) {
		return
	}
	asking, cancel := context.WithTimeout(ctx, tagTimeout)
	defer cancel()
	digest, err := "", errNoAnswer
	defer func() { r.tags.answered(s.audit, digest, err) }() // even after a panic, or no tag would be checked again
	digest, err = r.tagDigest(asking, s.audit)
	if err != nil {
		log.FromContext(ctx).V(1).Info("Could not ask what a tag names", "image", s.audit.Spec.Server.Image, "cause", err.Error())
	}
}

func (r *Reconciler) tagDigest(ctx context.Context, audit *v1alpha1.MCPServerAudit) (string, error) {
	secrets, err := r.pullSecrets(ctx, audit)
	if err != nil {
		return "", err
	}
	return r.Images.Digest(ctx, audit.Spec.Server.Image, secrets)
}

// checksTag reports whether the image may change without the audit noticing: it has a tag and
// was run. Registries that did not answer for the audit are included, or they could evade the
// check.
func (r *Reconciler) checksTag(audit *v1alpha1.MCPServerAudit) bool {
	return r.Options.ImageCheckInterval > 0 && !audit.Spec.Suspend && audit.Status.Trigger != nil &&
		(audit.Status.Trigger.ImageDigest != "" || isUnresolved(audit)) && !strings.Contains(audit.Spec.Server.Image, "@")
}

// isUnresolved reports whether only the node resolved the image.
func isUnresolved(audit *v1alpha1.MCPServerAudit) bool {
	return conditions.Reason(audit, v1alpha1.ConditionImageAmbiguous) == v1alpha1.ReasonResolvedByNode
}

// turn returns the number of an audit's check since 1970, and the time of the next. Seconds do
// not overflow like nanoseconds.
func (r *Reconciler) turn(s *session) (int64, time.Time) {
	interval := max(int64(r.Options.ImageCheckInterval/time.Second), 1)
	phase := int64(schedule.Fraction(s.audit.UID, "tag") * float64(interval))
	turn := (s.now.Unix() + phase) / interval
	return turn, time.Unix((turn+1)*interval-phase, 0)
}

// nextTagCheck returns the time of the next tag check; zero for never.
func (r *Reconciler) nextTagCheck(s *session) time.Time {
	if !r.checksTag(s.audit) {
		return time.Time{}
	}
	turn, next := r.turn(s)
	if last, known := r.tags.last(s.audit); known && last < turn {
		return s.now.Add(tagPause)
	}
	return next
}

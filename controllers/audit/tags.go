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

// Every image that is given by a tag has its turn once in each ImageCheckInterval,
// at an instant that the UID of the audit decides. What the registry says then is
// kept in memory: nothing is written as long as nothing has changed, and a manager
// that starts asks about each image when its turn comes, and not about all at once.
//
// Audits must not wait for registries that are slow or gone: one reconciliation at a
// time asks for a tag, for a short time. Package imageref leaves alone a registry that
// did not answer; turns in that time pass.
const (
	tagTimeout = 5 * time.Second
	// tagPause is when a turn is tried again that another has taken.
	tagPause = 15 * time.Second
)

var errNoAnswer = errors.New("no answer")

// tags remembers what the registries said. The zero value is ready for use.
type tags struct {
	mutex   sync.Mutex
	answers map[types.NamespacedName]answer
	asking  bool
}

// answer is about the tag of one audit.
type answer struct {
	uid  types.UID
	turn int64
	// digest that the tag had at the turn, as news on the audit of run; empty if the
	// registry did not say. The next audit resolves the tag itself.
	digest v1alpha1.Digest
	run    string
}

// digest returns what the tag of an audit names now, as far as is known.
func (t *tags) digest(audit *v1alpha1.MCPServerAudit) v1alpha1.Digest {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	a := t.answers[client.ObjectKeyFromObject(audit)]
	if audit.Status.Trigger == nil || a.uid != audit.UID || a.run != audit.Status.Trigger.Run {
		return ""
	}
	return a.digest
}

// last is the last turn of an audit, if it is known.
func (t *tags) last(audit *v1alpha1.MCPServerAudit) (int64, bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	a, known := t.answers[client.ObjectKeyFromObject(audit)]
	return a.turn, known && a.uid == audit.UID
}

// take notes the turn of an audit, and reports whether its registry may be asked. If
// another one is being asked, it is not noted.
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

// answered ends what take began.
func (t *tags) answered(audit *v1alpha1.MCPServerAudit, digest string, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.asking = false
	key := client.ObjectKeyFromObject(audit)
	a := t.answers[key]
	switch {
	case a.uid != audit.UID:
		return // it was deleted in between
	case err == nil:
		a.digest, a.run = v1alpha1.Digest(digest), audit.Status.Trigger.Run
	case errors.Is(err, imageref.ErrBusy):
		a.turn-- // it had none
	}
	t.answers[key] = a
}

func (t *tags) forget(key types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.answers, key)
}

// checkTag asks the registry what the tag names now, if it is its turn. It changes
// nothing but what is known of the tag. An audit that is new to this manager has had
// its turn, unless it is waiting to be made: what it is waiting for is then known to
// nobody else.
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
	defer func() { r.tags.answered(s.audit, digest, err) }() // a panic included, or nobody asks again
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

// checksTag reports whether an image may change behind the back of its audit: it has a
// tag, and an image was run. A registry that did not answer the operator when the audit
// was made is asked as well, or it could keep its tag from being checked ever.
func (r *Reconciler) checksTag(audit *v1alpha1.MCPServerAudit) bool {
	return r.Options.ImageCheckInterval > 0 && !audit.Spec.Suspend && audit.Status.Trigger != nil &&
		(audit.Status.Trigger.ImageDigest != "" || isUnresolved(audit)) && !strings.Contains(audit.Spec.Server.Image, "@")
}

// isUnresolved reports whether only the node knew what the image named.
func isUnresolved(audit *v1alpha1.MCPServerAudit) bool {
	return conditions.Reason(audit, v1alpha1.ConditionImageAmbiguous) == v1alpha1.ReasonResolvedByNode
}

// turn counts the turns of an audit since 1970, and tells when the next one comes.
// In seconds, which do not overflow as nanoseconds do.
func (r *Reconciler) turn(s *session) (int64, time.Time) {
	interval := max(int64(r.Options.ImageCheckInterval/time.Second), 1)
	phase := int64(schedule.Fraction(s.audit.UID, "tag") * float64(interval))
	turn := (s.now.Unix() + phase) / interval
	return turn, time.Unix((turn+1)*interval-phase, 0)
}

// nextTagCheck returns when the tag has its next turn; zero for never.
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

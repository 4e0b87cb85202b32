package admission

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

const (
	// maxUses bounds the queue. A gate that is asked faster than the API server writes drops
	// and counts events instead of delaying answers.
	maxUses = 1024
	// quiet is the interval between events for the same object and exception.
	quiet = 10 * time.Minute
	// precision of status.lastUsedTime.
	precision    = time.Minute
	writeTimeout = 5 * time.Second
	// maxNote is the longest note that events.k8s.io accepts.
	maxNote = 1024
	// maxName is the length limit of object names. Callers of the gate may send longer ones.
	maxName = 253
	// maxTold bounds the remembered events. Beyond it, none are written until old ones are
	// forgotten.
	maxTold = 8192
)

// use is an exception that admitted an object.
type use struct {
	exception  types.NamespacedName
	kind, name string
	note       string
}

// Uses records the use of exceptions after the API server has its answer: an event and
// status.lastUsedTime.
type Uses struct {
	client client.Client
	events events.EventRecorder
	clock  clock.PassiveClock
	queue  chan use
	// told has the events by exception and object, used the last uses by exception.
	told map[use]time.Time
	used map[types.NamespacedName]time.Time
}

// NewUses makes Uses. It is a manager.Runnable of every replica.
func NewUses(writer client.Client, events events.EventRecorder, clock clock.PassiveClock) *Uses {
	return &Uses{
		client: writer, events: events, clock: clock, queue: make(chan use, maxUses),
		told: map[use]time.Time{}, used: map[types.NamespacedName]time.Time{},
	}
}

func useOf(request *admissionv1.AdmissionRequest, opinion gate.Opinion) use {
	kind, name := excerpt.Line(request.Kind.Kind, maxName), cmp.Or(excerpt.Line(request.Name, maxName), "with a generated name")
	return use{
		exception: opinion.Exception.NamespacedName, kind: kind, name: name,
		note: excerpt.Line(fmt.Sprintf("Admitted %s %s of %s, %s %s, although policy %s denies it: %s", kind, name,
			excerpt.Line(request.UserInfo.Username, maxName), opinion.Container.Role, opinion.Container.Name, opinion.Policy.Ref.Name, opinion.Sentence), maxNote),
	}
}

// enqueue queues a use for writing; false if the queue is full.
func (u *Uses) enqueue(used use) bool {
	select {
	case u.queue <- used:
		return true
	default:
		return false
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (u *Uses) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (u *Uses) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case used := <-u.queue:
			if err := u.write(ctx, used); err != nil {
				log.FromContext(ctx).Error(err, "Could not write that an exception was used", "namespace", used.exception.Namespace, "name", used.exception.Name)
			}
		}
	}
}

func (u *Uses) write(ctx context.Context, used use) error {
	now := u.clock.Now()
	u.forget(now)
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	subject := use{exception: used.exception, kind: used.kind, name: used.name}
	_, silent := u.told[subject]
	silent = silent || len(u.told) >= maxTold
	_, noted := u.used[used.exception]
	if silent && noted {
		return nil
	}
	var exception v1alpha1.MCPAuditException
	if err := u.client.Get(ctx, used.exception, &exception); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !silent {
		u.told[subject] = now
		u.events.Eventf(&exception, nil, corev1.EventTypeNormal, "ExceptionUsed", "Admit", "%s", used.note)
	}
	if noted {
		return nil
	}
	u.used[used.exception] = now
	if last := exception.Status.LastUsedTime; last != nil && now.Sub(last.Time) < precision {
		return nil // another replica wrote it
	}
	patch := client.MergeFrom(exception.DeepCopy())
	exception.Status.LastUsedTime = &metav1.Time{Time: now}
	if err := u.client.Status().Patch(ctx, &exception, patch); err != nil && !apierrors.IsNotFound(err) {
		delete(u.used, used.exception)
		return fmt.Errorf("patch status: %w", err)
	}
	return nil
}

// forget drops uses that may be reported again.
func (u *Uses) forget(now time.Time) {
	maps.DeleteFunc(u.told, func(_ use, at time.Time) bool { return now.Sub(at) >= quiet })
	maps.DeleteFunc(u.used, func(_ types.NamespacedName, at time.Time) bool { return now.Sub(at) >= precision })
}

// Package recorder writes events synchronously. client-go's recorder queues them, loses the
// queue when the process ends, and merges events of equal reason with different texts; ours are
// few and differ in their texts.
package recorder

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/reference"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// controller is the reporting controller, a qualified name as events.k8s.io requires.
const controller = "mcpaudit.dev/manager"

// Limits of events.k8s.io for the instance and the name, of which the timestamp takes 17
// characters; and the timeout of a write, which may outlast the reconciliation at shutdown.
const (
	maxInstance  = 128
	maxName      = 253 - 17
	writeTimeout = 5 * time.Second
)

// New makes a recorder.
func New(writer client.Client, clock clock.PassiveClock) events.EventRecorder {
	host, _ := os.Hostname() // empty where there is none
	instance := controller + "-" + host
	return &recorder{writer, clock, instance[:min(len(instance), maxInstance)]}
}

type recorder struct {
	client   client.Client
	clock    clock.PassiveClock
	instance string
}

// Eventf implements events.EventRecorder. Failed writes are logged: the status has the same
// information.
func (r *recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	event, err := r.event(regarding, related)
	if err == nil {
		event.Type, event.Reason, event.Action, event.Note = kind, reason, action, fmt.Sprintf(note, args...)
		err = r.client.Create(ctx, event)
	}
	if err != nil {
		log.Log.Error(err, "Could not write an event", "reason", reason, "note", fmt.Sprintf(note, args...))
	}
}

func (r *recorder) event(regarding, related runtime.Object) (*eventsv1.Event, error) {
	about, err := reference.GetReference(r.client.Scheme(), regarding)
	if err != nil {
		return nil, fmt.Errorf("refer to what the event is about: %w", err)
	}
	var other *corev1.ObjectReference
	if related != nil {
		if other, err = reference.GetReference(r.client.Scheme(), related); err != nil {
			return nil, fmt.Errorf("refer to what the event is related to: %w", err)
		}
	}
	now := r.clock.Now()
	namespace := cmp.Or(about.Namespace, metav1.NamespaceDefault) // for events about cluster-scoped objects
	name := strings.TrimRight(about.Name[:min(len(about.Name), maxName)], "-.")
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s.%016x", name, now.UnixNano())},
		EventTime:  metav1.NewMicroTime(now), ReportingController: controller, ReportingInstance: r.instance,
		Regarding: *about, Related: other,
	}, nil
}

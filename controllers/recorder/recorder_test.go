package recorder_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
)

func TestEvents(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	api := fake.NewClientBuilder().WithScheme(scheme).Build()
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC))
	events := recorder.New(api, clock)
	long := strings.Repeat("a", 235) + "." + "b"
	about := []client.Object{
		&v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "notes", UID: "u1"}},
		&v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: long, UID: "u2"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}},
	}
	for _, object := range about {
		for _, note := range []string{"first, 100% of it", "second"} {
			events.Eventf(object, about[2], corev1.EventTypeWarning, "AuditFailed", "Audit", "%s", note)
			clock.SetTime(clock.Now().Add(time.Nanosecond))
		}
	}

	var written eventsv1.EventList
	if err := api.List(t.Context(), &written); err != nil {
		t.Fatal(err)
	}
	notes := map[string]string{}
	for _, event := range written.Items {
		notes[event.Regarding.Name] += event.Note + ";"
		if problems := validation.IsDNS1123Subdomain(event.Name); len(problems) > 0 {
			t.Errorf("name %s: %v", event.Name, problems)
		}
		if event.EventTime.IsZero() || len(validation.IsQualifiedName(event.ReportingController)) > 0 || event.ReportingInstance == "" ||
			event.Type != corev1.EventTypeWarning || event.Reason != "AuditFailed" || event.Action != "Audit" || event.Related.Kind != "Node" {
			t.Errorf("event %+v lacks what the API asks for", event)
		}
	}
	for _, object := range about {
		if got := notes[object.GetName()]; got != "first, 100% of it;second;" {
			t.Errorf("about %.20s: %q, want both notes", object.GetName(), got)
		}
	}
}

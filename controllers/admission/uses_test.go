package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// TestUsesAreWrittenSeldom: an event in ten minutes for an object, a time in one.
func TestUsesAreWrittenSeldom(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	key := types.NamespacedName{Namespace: "team-a", Name: "known"}
	exception := &v1alpha1.MCPAuditException{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(exception).WithStatusSubresource(exception).Build()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock, recorder := clocktesting.NewFakePassiveClock(begin), events.NewFakeRecorder(100)
	uses := NewUses(api, recorder, clock)
	for _, step := range []struct {
		name   string
		after  time.Duration
		object string
		events int
		used   time.Duration
	}{
		{"the first use", 0, "notes", 1, 0},
		{"the same at once", time.Second, "notes", 0, 0},
		{"another object", 2 * time.Second, "mail", 1, 0},
		{"the same after a minute", time.Minute, "notes", 0, time.Minute},
		{"the same after ten", 10 * time.Minute, "notes", 1, 10 * time.Minute},
		{"an exception that is gone", 20 * time.Minute, "", 0, 10 * time.Minute},
	} {
		clock.SetTime(begin.Add(step.after))
		used := use{exception: key, kind: "Deployment", name: step.object, note: "used"}
		if step.object == "" {
			used.exception.Name = "gone"
		}
		if err := uses.write(t.Context(), used); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := api.Get(t.Context(), key, exception); err != nil {
			t.Fatal(err)
		}
		if got := len(recorder.Events); got != step.events || exception.Status.LastUsedTime == nil || !exception.Status.LastUsedTime.Time.Equal(begin.Add(step.used)) {
			t.Errorf("%s: %d events, used at %s", step.name, got, exception.Status.LastUsedTime)
		}
		for len(recorder.Events) > 0 {
			<-recorder.Events
		}
	}
	var all v1alpha1.MCPAuditExceptionList
	if err := api.List(t.Context(), &all, client.InNamespace("team-a")); err != nil || len(all.Items) != 1 {
		t.Errorf("%d exceptions: %v", len(all.Items), err)
	}
}

// TestServer: TLS from 1.2 on, one stream for a connection, and nothing but the webhook.
func TestServer(t *testing.T) {
	lender := httptest.NewTLSServer(nil) // of a certificate
	defer lender.Close()
	h, _ := newHandler(newFacts("Enforce"))
	server := &Server{Handler: h, Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &lender.TLS.Certificates[0], nil }}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.serve(ctx, listener) }()
	roots := x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	ask := func(method, path string, config *tls.Config) (*http.Response, error) {
		config.RootCAs = roots
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true}
		request, err := http.NewRequestWithContext(t.Context(), method, "https://"+listener.Addr().String()+path, bytes.NewReader(nil))
		if err != nil {
			return nil, err
		}
		response, err := transport.RoundTrip(request)
		if err == nil {
			err = response.Body.Close()
		}
		return response, err
	}
	for _, test := range []struct {
		method, path string
		status       int
	}{{"POST", Path, http.StatusBadRequest}, {"GET", Path, http.StatusMethodNotAllowed}, {"POST", "/metrics", http.StatusNotFound}} {
		response, err := ask(test.method, test.path, &tls.Config{})
		if err != nil || response.StatusCode != test.status || response.ProtoMajor != 1 {
			t.Errorf("%s %s: %v, %v", test.method, test.path, response, err)
		}
	}
	if _, err := ask("POST", Path, &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	stop()
	if _, err := ask("POST", Path, &tls.Config{}); err != nil {
		t.Errorf("a replica that is being stopped does not answer: %v", err)
	}
	if err := <-done; err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func TestUsesOfExceptionsAreTold(t *testing.T) {
	f := newFacts("Enforce")
	exception, err := gate.ReadException(&v1alpha1.MCPAuditException{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "leaky", CreationTimestamp: metav1.Now()},
		Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: "MCPAuditPolicy", Name: "default"}, ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Reason: "known and harmless", Ticket: "SEC-1", ExpiresAt: metav1.NewTime(time.Now().Add(time.Hour)),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.known.Exceptions = []*gate.Exception{exception}
	h, counted := newHandler(f)
	review := question("CREATE", "", strings.Replace(pod(failing, failing+"@sha256:"+strings.Repeat("a", 64)), `"name":"notes",`, `"name":"notes","labels":{"a":"b"},`, 1))
	review.Request.DryRun = new(true)
	answer, _ := ask(t, h, review)
	if !answer.Allowed || len(h.Uses.queue) != 0 || answer.AuditAnnotations["exception"] != "team-a/leaky (SEC-1)" {
		t.Errorf("a dry run: %+v, %d uses", answer, len(h.Uses.queue))
	}
	review.Request.DryRun = nil
	ask(t, h, review)
	if len(h.Uses.queue) != 1 || !slices.Contains(counted.all, "excepted 2") {
		t.Errorf("%d uses, counted %q", len(h.Uses.queue), counted.all)
	}
	for range maxUses {
		ask(t, h, review)
	}
	if !slices.Contains(counted.all, "failed use_lost") {
		t.Error("more uses than wait at most are not counted")
	}
}

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/mcpaudit/mcpaudit/controllers/admission"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/test/controlplane"
)

// gate is the webhook's handler with its index, and what they cost.
type gate struct {
	store     *index.Store
	url       string
	authority []byte
	// audits is the size of a cached audit in bytes, and index what the index adds to it.
	audits, index float64
	// filled is the duration of filling the index.
	filled    time.Duration
	decisions []decided
}

// decided has the durations for one object: of the decision, as in
// mcpaudit_gate_decision_seconds, and from the request to the answer.
type decided struct {
	name             string
	decision, answer spread
}

// startGate measures a gate with n verdicts, and serves it until the context ends.
func startGate(ctx context.Context, n, decisions int) (*gate, error) {
	none := heap()
	f, err := newFeed(ctx, n)
	if err != nil {
		return nil, err
	}
	cached, begin := heap(), time.Now()
	g := &gate{}
	if g.store, err = f.fill(ctx); err != nil {
		return nil, err
	}
	g.filled, g.audits, g.index = time.Since(begin), each(cached-none, n), each(heap()-cached, n)
	timer := &timer{}
	handler := &admission.Handler{Index: g.store, Metrics: timer, Clock: clock.RealClock{}}
	for _, ask := range decisionsAsked() {
		taken, err := ask.repeat(handler, timer, decisions)
		if err != nil {
			return nil, err
		}
		g.decisions = append(g.decisions, taken)
	}
	return g, g.listen(ctx, handler)
}

// heap returns the bytes in use.
func heap() float64 {
	runtime.GC()
	runtime.GC() // objects with a finalizer are freed by the second
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// each returns the bytes per verdict.
func each(bytes float64, n int) float64 { return bytes / float64(n+asked) }

// listen serves the handler at an address of this machine.
func (g *gate) listen(ctx context.Context, handler *admission.Handler) error {
	address, err := controlplane.FreeAddress()
	if err != nil {
		return err
	}
	pair, authority, err := controlplane.Certificate()
	if err != nil {
		return err
	}
	server := &admission.Server{
		Handler: handler, Address: address, Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil },
	}
	go func() { _ = server.Start(ctx) }() // if it fails, await times out
	g.url, g.authority = "https://"+address+admission.Path, authority
	return nil
}

// timer implements admission.Metrics and keeps every duration.
type timer struct {
	mu    sync.Mutex
	times []time.Duration
}

// Decided implements admission.Metrics.
func (t *timer) Decided(_, _, _ string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.times = append(t.times, took)
}

// Excepted implements admission.Metrics.
func (t *timer) Excepted(int) {}

// Failed implements admission.Metrics. The answer shows what failed.
func (t *timer) Failed(string) {}

// take returns the durations since the last call.
func (t *timer) take() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.times
	t.times = nil
	return taken
}

// repeat measures repeated decisions about an object.
func (o object) repeat(handler http.Handler, timer *timer, times int) (decided, error) {
	body, err := o.review()
	if err != nil {
		return decided{}, err
	}
	taken := make([]time.Duration, 0, times)
	for range o.fewer(times) {
		request := httptest.NewRequest(http.MethodPost, admission.Path, bytes.NewReader(body))
		answer := httptest.NewRecorder()
		begin := time.Now()
		handler.ServeHTTP(answer, request)
		taken = append(taken, time.Since(begin))
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal(answer.Body.Bytes(), &review); err != nil || answer.Code != http.StatusOK {
			return decided{}, errors.Join(fmt.Errorf("decide about a %s: %d %s", o.name, answer.Code, answer.Body), err)
		}
		if review.Response.Allowed == o.denied {
			return decided{}, fmt.Errorf("decide about a %s: allowed is %t: %v", o.name, review.Response.Allowed, review.Response.Result)
		}
	}
	return decided{o.name, spreadOf(timer.take()), spreadOf(taken)}, nil
}

// review returns the API server's request for an object.
func (o object) review() ([]byte, error) {
	return json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", Kind: metav1.GroupVersionKind{Group: o.group, Version: "v1", Kind: o.kind}, Operation: admissionv1.Create,
			Namespace: both, Object: k8sruntime.RawExtension{Raw: o.body},
		},
	})
}

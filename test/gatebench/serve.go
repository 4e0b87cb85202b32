package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/mcpaudit/mcpaudit/controllers/admission"
	"github.com/mcpaudit/mcpaudit/test/controlplane"
)

// readiness is printed by the gate's process once it is ready.
type readiness struct {
	URL       string `json:"url"`
	Authority []byte `json:"authority"`
	// Audits is the size of a cached audit in bytes, and Index what the index adds to it.
	Audits float64 `json:"audits"`
	Index  float64 `json:"index"`
	// Filled is the duration of filling the index.
	Filled    time.Duration `json:"filled"`
	Decisions []decided     `json:"decisions"`
}

// remains is printed at the end: the number of network requests, and the index's bytes per
// verdict without the informers' objects.
type remains struct {
	Asked int     `json:"asked"`
	Alone float64 `json:"alone"`
}

// decided has the durations for one object: of the decision, as in
// mcpaudit_gate_decision_seconds, and from the request to the answer.
type decided struct {
	Name     string `json:"name"`
	Decision spread `json:"decision"`
	Answer   spread `json:"answer"`
}

// serve runs the gate until standard input ends.
func serve(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet(served, pflag.ContinueOnError)
	n := flags.IntP("verdicts", "n", 0, "number of verdicts")
	decisions := flags.Int("decisions", 0, "how often to ask about each object")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	informing, forget := context.WithCancel(ctx)
	defer forget()
	none := heap()
	f, err := newFeed(informing, *n)
	if err != nil {
		return err
	}
	told := heap()
	begin := time.Now()
	store, err := f.fill(ctx)
	if err != nil {
		return err
	}
	ready := readiness{Filled: time.Since(begin), Audits: each(told-none, *n), Index: each(heap()-told, *n)}
	timer := &timer{}
	handler := &admission.Handler{Index: store, Metrics: timer, Clock: clock.RealClock{}}
	for _, ask := range decisionsAsked() {
		taken, err := ask.repeat(handler, timer, *decisions)
		if err != nil {
			return err
		}
		ready.Decisions = append(ready.Decisions, taken)
	}
	timer.take()
	ended := make(chan error, 1)
	if ready.URL, ready.Authority, err = listen(ctx, handler, ended); err != nil {
		return err
	}
	output := json.NewEncoder(os.Stdout)
	if err := output.Encode(ready); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	answered := len(timer.take())
	clear(f.informers)
	forget()
	left := remains{Asked: answered, Alone: each(heap()-none, *n)}
	runtime.KeepAlive(store)
	return output.Encode(left)
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

// listen serves the gate at an address of this machine.
func listen(ctx context.Context, handler *admission.Handler, ended chan<- error) (url string, authority []byte, err error) {
	address, err := controlplane.FreeAddress()
	if err != nil {
		return "", nil, err
	}
	pair, authority, err := controlplane.Certificate()
	if err != nil {
		return "", nil, err
	}
	server := &admission.Server{
		Handler: handler, Address: address, Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil },
	}
	go func() { ended <- server.Start(ctx) }()
	return "https://" + address + admission.Path, authority, nil
}

// timer implements admission.Metrics and keeps every duration.
type timer struct {
	mu    sync.Mutex
	times []time.Duration
	wrong []string
}

// Decided implements admission.Metrics.
func (t *timer) Decided(_, _, _ string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.times = append(t.times, took)
}

// Excepted implements admission.Metrics.
func (t *timer) Excepted(int) {}

// Failed implements admission.Metrics.
func (t *timer) Failed(cause string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrong = append(t.wrong, cause)
}

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
	return decided{Name: o.name, Decision: spreadOf(timer.take()), Answer: spreadOf(taken)}, nil
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

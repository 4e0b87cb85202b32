package admission

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// Path of the webhook.
const Path = "/gate"

// maxBody has room for an object in its two states, each of the 3 MiB that the API
// server takes at most, and for the rest of the request.
const maxBody = 7 << 20

// A body of large bytes or more takes some thirty times its size to decide, and up to a
// second: maxLarge of them are decided at a time, and maxSmall of the others. A request
// takes its turn once it is received, so that a slow client holds none, and waits for it
// no longer than patience: with the decision that is less than the API server waits.
// maxBodies bounds the bytes of all requests together.
const (
	large     = 512 << 10
	maxLarge  = 1
	maxSmall  = 8
	maxBodies = 32 << 20
	patience  = time.Second
)

// An object of JSON that has no fields takes hundreds of bytes once it is decoded: it
// weighs objectBytes. More than maxObjects, or maxValues in all, are in no request of the
// API server about what somebody would run.
const (
	objectBytes = 64
	maxObjects  = 150_000
	maxValues   = 600_000
)

// Index has what decisions rest on; controllers/index has it.
type Index interface {
	Synced() bool
	Facts(now time.Time) gate.Facts
}

// Metrics count; controllers/metrics has them.
type Metrics interface {
	Decided(decision, reason, mode string, took time.Duration)
	Excepted(containers int)
	Failed(cause string)
}

// Handler answers AdmissionReviews of admission.k8s.io/v1. An answer has the status
// 200, whatever it says; any other status is an error, and failurePolicy decides.
type Handler struct {
	Index   Index
	Metrics Metrics
	// Uses is told of the exceptions that admitted something.
	Uses  *Uses
	Clock clock.PassiveClock

	once   sync.Once
	turns  map[bool]chan struct{} // by whether they are for large requests
	bodies bodies
	// received is told of each request that was received whole; nil outside of a Server.
	received func(context.Context)
}

func (h *Handler) init() {
	h.once.Do(func() {
		h.turns = map[bool]chan struct{}{true: make(chan struct{}, maxLarge), false: make(chan struct{}, maxSmall)}
		if h.bodies.limit == 0 {
			h.bodies.limit = maxBodies
		}
	})
}

// wait takes a turn to decide about a body that weighs as much as one of size bytes.
func (h *Handler) wait(ctx context.Context, size int) (done func(), err error) {
	h.init()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	turn := h.turns[size >= large]
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, failure{"busy", http.StatusServiceUnavailable, errors.New("the gate decides about other objects")}
	}
}

// weightOf is the size of a body, or what its objects weigh if that is more.
func weightOf(body []byte) (int, error) {
	objects, values, inText := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{':
			objects++
		case c == '[', c == ',':
			values++
		}
	}
	if objects > maxObjects || values > maxValues {
		return 0, failure{"too_large", http.StatusRequestEntityTooLarge, fmt.Errorf("the request for it has %d objects and %d values of JSON, which are too many", objects, values)}
	}
	return max(len(body), objects*objectBytes), nil
}

// failure is why a request is not answered.
type failure struct {
	cause  string // as the metric has it
	status int
	error
}

// malformed is the cause of what is no question.
const malformed = "malformed"

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if problem := recover(); problem != nil {
			log.Log.Error(fmt.Errorf("%v", problem), "Recovered from a panic of the gate", "stack", string(debug.Stack()))
			h.Metrics.Failed("panic")
			http.Error(w, "the gate failed", http.StatusInternalServerError)
		}
	}()
	review, err := h.read(w, r)
	if err != nil {
		var f failure
		if !errors.As(err, &f) {
			f = failure{malformed, http.StatusBadRequest, err}
		}
		h.Metrics.Failed(f.cause)
		log.Log.Info("Did not answer a question to the gate", "cause", f.cause, "error", err.Error())
		http.Error(w, err.Error(), f.status)
		return
	}
	encoded, err := json.Marshal(review)
	if err != nil {
		panic(err) // it is of strings
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(encoded); err != nil {
		log.Log.V(1).Info("Could not send an answer of the gate", "error", err.Error())
	}
}

// read reads a question and answers it.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionReview, error) {
	if !h.Index.Synced() {
		return nil, failure{"not_synced", http.StatusServiceUnavailable, errors.New("the gate does not know all verdicts yet")}
	}
	h.init()
	content, release, err := h.bodies.receive(w, r)
	defer release()
	if err != nil {
		err = notReceived(err)
	} else {
		if h.received != nil {
			h.received(r.Context())
		}
		var review *admissionv1.AdmissionReview
		if review, err = h.decide(r.Context(), content); err == nil {
			return review, nil
		}
	}
	f, remedy := failure{}, "write it such that it can be read"
	switch errors.As(err, &f); f.cause {
	case "slow": // by nobody's object
		return nil, err
	case "too_large":
		remedy = "make it smaller"
	case "busy":
		remedy = "try again"
	}
	if review := h.refuse(content, err, remedy); review != nil {
		h.Metrics.Failed(cmp.Or(f.cause, malformed))
		return review, nil
	}
	return nil, err
}

// notReceived returns why a request was not received.
func notReceived(err error) error {
	tooLarge := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &tooLarge):
		return failure{"too_large", http.StatusRequestEntityTooLarge, fmt.Errorf("the request for it has more than %d bytes", tooLarge.Limit)}
	case errors.Is(err, errBudget):
		return failure{"busy", http.StatusServiceUnavailable, err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return failure{"slow", http.StatusRequestTimeout, errors.New("the request was not sent in time")}
	}
	return fmt.Errorf("read request: %w", err)
}

// decide answers a question once it is its turn.
func (h *Handler) decide(ctx context.Context, content []byte) (*admissionv1.AdmissionReview, error) {
	weight, err := weightOf(content)
	if err != nil {
		return nil, err
	}
	done, err := h.wait(ctx, weight)
	if err != nil {
		return nil, err
	}
	defer done()
	return h.review(content)
}

func (h *Handler) review(content []byte) (*admissionv1.AdmissionReview, error) {
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(content, &review); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	request := review.Request
	if request == nil || request.UID == "" || review.GroupVersionKind() != admissionv1.SchemeGroupVersion.WithKind("AdmissionReview") {
		return nil, errors.New("read request: it is no AdmissionReview of admission.k8s.io/v1")
	}
	begin := h.Clock.Now()
	decision := judge(request, h.Index.Facts(begin))
	h.count(decision, h.Clock.Since(begin))
	if decision.Allowed && !ptr.Deref(request.DryRun, false) {
		h.tellUses(request, decision)
	}
	return reviewOf(answer(request.UID, decision)), nil
}

func reviewOf(response *admissionv1.AdmissionResponse) *admissionv1.AdmissionReview {
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: response,
	}
}

func (h *Handler) count(decision gate.Decision, took time.Duration) {
	word, on := weigh(decision)
	if on == nil {
		h.Metrics.Decided(word, "None", "None", took)
		return
	}
	h.Metrics.Decided(word, string(on.Reason), string(on.Policy.Gate.Mode), took)
}

// tellUses tells of the exceptions that a decision rests on, each once.
func (h *Handler) tellUses(request *admissionv1.AdmissionRequest, decision gate.Decision) {
	containers, uses := 0, map[*gate.Exception]use{}
	for _, opinion := range decision.Opinions {
		if opinion.Exception == nil {
			continue
		}
		containers++
		if _, known := uses[opinion.Exception]; !known {
			uses[opinion.Exception] = useOf(request, opinion)
		}
	}
	if containers > 0 {
		h.Metrics.Excepted(containers)
	}
	for _, use := range uses {
		if !h.Uses.enqueue(use) {
			h.Metrics.Failed("use_lost")
		}
	}
}

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

// Path is the webhook's URL path.
const Path = "/gate"

// maxBody fits an object in its old and new state, 3 MiB each (the API server's limit), plus
// the rest of the request.
const maxBody = 7 << 20

// A body of at least large bytes takes about thirty times its size and up to a second to
// decide, so at most maxLarge of them are decided at a time, and maxSmall of the others. A
// request queues only once it is received, so slow clients hold no place, and waits at most
// patience: together with the decision, less than the API server waits. maxBodies bounds the
// bytes of all requests.
const (
	large     = 512 << 10
	maxLarge  = 1
	maxSmall  = 8
	maxBodies = 32 << 20
	patience  = time.Second
)

// answering bounds a request from its header to its answer: the API server waits three seconds
// (config/webhook), and failurePolicy may admit what it gets no answer about.
const answering = 2500 * time.Millisecond

// An empty JSON object takes hundreds of bytes once decoded: it counts as objectBytes. No
// genuine request about a workload has more than maxObjects objects or maxValues values.
const (
	objectBytes = 64
	maxObjects  = 150_000
	maxValues   = 600_000
)

// Index is implemented by controllers/index.
type Index interface {
	Synced() bool
	Facts(now time.Time) gate.Facts
}

// Metrics is implemented by controllers/metrics.
type Metrics interface {
	Decided(decision, reason, mode string, took time.Duration)
	Excepted(containers int)
	Failed(cause string)
}

// Handler answers AdmissionReviews of admission.k8s.io/v1. Every answer has status 200; any
// other status is an error, which leaves the decision to failurePolicy.
type Handler struct {
	Index   Index
	Metrics Metrics
	// Uses records the exceptions that admitted something.
	Uses  *Uses
	Clock clock.PassiveClock

	once   sync.Once
	turns  map[bool]chan struct{} // key: for large requests
	bodies bodies
	// answering replaces the constant in tests.
	answering time.Duration
	// received is called for each completely received request; nil outside a Server.
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

// wait queues for a turn to decide a body of the given weight in bytes.
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

// weightOf returns the size of a body, or the weight of its objects if greater.
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

// failure is the reason why a request gets no answer.
type failure struct {
	cause  string // label of the metric
	status int
	error
}

// malformed is the cause for bodies that are no AdmissionReview.
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
		f, ok := errors.AsType[failure](err)
		if !ok {
			f = failure{malformed, http.StatusBadRequest, err}
		}
		h.Metrics.Failed(f.cause)
		log.Log.Info("Did not answer a question to the gate", "cause", f.cause, "error", err.Error())
		http.Error(w, err.Error(), f.status)
		return
	}
	encoded, err := json.Marshal(review)
	if err != nil {
		panic(err) // marshalling strings cannot fail
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(encoded); err != nil {
		log.Log.V(1).Info("Could not send an answer of the gate", "error", err.Error())
	}
}

// read reads an AdmissionReview and answers it.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionReview, error) {
	if !h.Index.Synced() {
		return nil, failure{"not_synced", http.StatusServiceUnavailable, errors.New("the gate does not know all verdicts yet")}
	}
	h.init()
	ctx, cancel := context.WithTimeout(r.Context(), cmp.Or(h.answering, answering))
	defer cancel()
	content, release, err := h.bodies.receive(w, r)
	if err != nil {
		release()
		err = notReceived(err)
	} else {
		if h.received != nil {
			h.received(r.Context())
		}
		var review *admissionv1.AdmissionReview
		if review, err = h.decide(ctx, content, release); err == nil {
			return review, nil
		}
	}
	f, remedy := failure{}, "write it such that it can be read"
	switch errors.As(err, &f); f.cause {
	case "slow": // the client is at fault, not the object
		return nil, err
	case "too_large":
		remedy = "make it smaller"
	case "busy":
		remedy = "try again"
	case "late":
		remedy = "make several objects of it, or have fewer policies"
	}
	if review := h.refuse(content, err, remedy); review != nil {
		h.Metrics.Failed(cmp.Or(f.cause, malformed))
		return review, nil
	}
	return nil, err
}

// notReceived explains why a request was not received.
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

// ended describes the end of a decision.
type ended struct {
	review  *admissionv1.AdmissionReview
	err     error
	problem any // of a panic
}

// decide answers a request when its turn comes, or fails when its time is up. The decision then
// keeps its turn and its bytes until it ends.
func (h *Handler) decide(ctx context.Context, content []byte, release func()) (*admissionv1.AdmissionReview, error) {
	weight, err := weightOf(content)
	if err != nil {
		release()
		return nil, err
	}
	done, err := h.wait(ctx, weight)
	if err != nil {
		release()
		return nil, err
	}
	decided := make(chan ended, 1)
	go func() {
		var v ended
		defer func() {
			v.problem = recover()
			done()
			release()
			decided <- v
		}()
		v.review, v.err = h.review(ctx, content)
	}()
	select {
	case v := <-decided:
		if v.problem != nil {
			panic(v.problem)
		}
		return v.review, v.err
	case <-ctx.Done():
		return nil, errLate
	}
}

// errLate is the failure of a decision that takes too long.
var errLate = failure{"late", http.StatusServiceUnavailable, errors.New("a decision about it takes too long")}

func (h *Handler) review(ctx context.Context, content []byte) (*admissionv1.AdmissionReview, error) {
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
	if ctx.Err() != nil { // answered by then
		return nil, errLate
	}
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

// tellUses reports each exception that a decision rests on, once.
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

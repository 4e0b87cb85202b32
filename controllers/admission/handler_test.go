package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// facts is an Index of a few verdicts.
type facts struct {
	known         gate.Facts
	empty, broken bool
	verdicts      map[string][]*gate.Verdict
}

func (f *facts) Synced() bool { return !f.empty }
func (f *facts) Facts(now time.Time) gate.Facts {
	if f.broken {
		panic("broken")
	}
	known := f.known
	known.Now, known.Verdicts = now, f
	known.NamespaceLabels = func(string) (labels.Set, bool) { return labels.Set{}, true }
	return known
}
func (f *facts) ByDigest(digest v1alpha1.Digest) []*gate.Verdict { return f.verdicts[string(digest)] }
func (f *facts) ByImageID(v1alpha1.Digest) []*gate.Verdict       { return nil }
func (f *facts) ByImage(image string) []*gate.Verdict            { return f.verdicts[image] }

func digestOf(image string) v1alpha1.Digest {
	_, digest, _ := strings.Cut(image, "@")
	return v1alpha1.Digest(digest)
}

// counts are the metrics.
type counts struct{ all []string }

func (c *counts) Decided(decision, reason, mode string, _ time.Duration) {
	c.all = append(c.all, strings.Join([]string{decision, reason, mode}, " "))
}
func (c *counts) Excepted(n int)      { c.all = append(c.all, fmt.Sprint("excepted ", n)) }
func (c *counts) Failed(cause string) { c.all = append(c.all, "failed "+cause) }

var passing, failing = pinned("registry.example/honest:1"), pinned("registry.example/leaky:1")

// pinned is an image with the digest that its verdict is about.
func pinned(image string) string {
	return image + "@" + string(v1alpha1.CommandDigest([]string{image}, nil))
}

func policyOf(mode v1alpha1.GateMode) *gate.Policy {
	return gate.ReadPolicy(&v1alpha1.MCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"},
		Spec: v1alpha1.MCPAuditPolicySpec{
			Gate: v1alpha1.Gate{
				Mode: mode, FailOn: "High", OnMissing: v1alpha1.ActionDeny, OnOtherCommand: v1alpha1.ActionDeny,
				OnInconclusive: "Deny", OnDrift: v1alpha1.ActionDeny, OnStale: v1alpha1.ActionDeny, Offline: v1alpha1.OfflineNone,
			},
			Trust: &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsSame},
		},
	})
}

func verdict(name, image string, high int32) *gate.Verdict {
	return &gate.Verdict{
		Audit: types.NamespacedName{Namespace: "team-a", Name: name}, Image: image, Digests: []v1alpha1.Digest{digestOf(image)},
		CommandDigest: v1alpha1.CommandDigest(nil, nil), Complete: true, Reason: v1alpha1.ReasonPassed,
		Findings: v1alpha1.FindingCounts{High: high}, Unsuppressed: v1alpha1.FindingCounts{High: high}, Time: time.Now(),
	}
}

func newFacts(mode v1alpha1.GateMode) *facts {
	return &facts{
		known: gate.Facts{Policies: []*gate.Policy{policyOf(mode)}, Architectures: []string{"amd64"}},
		verdicts: map[string][]*gate.Verdict{
			string(digestOf(passing)): {verdict("honest", passing, 0)}, string(digestOf(failing)): {verdict("leaky", failing, 2)},
		},
	}
}

func newHandler(f *facts) (*Handler, *counts) {
	c := &counts{}
	return &Handler{Index: f, Metrics: c, Uses: NewUses(nil, nil, clock.RealClock{}), Clock: clock.RealClock{}, answering: time.Hour}, c
}

// pod is one that runs images.
func pod(images ...string) string {
	var containers []string
	for i, image := range images {
		containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":%q}`, i, image))
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"notes","namespace":"team-a"},"spec":{"containers":[%s]}}`, strings.Join(containers, ","))
}

func question(operation admissionv1.Operation, old, object string) *admissionv1.AdmissionReview {
	request := &admissionv1.AdmissionRequest{
		UID: "1", Operation: operation, Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Namespace: "team-a", Name: "notes",
	}
	if object != "" {
		request.Object.Raw = []byte(object)
	}
	if old != "" {
		request.OldObject.Raw = []byte(old)
	}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request}
}

// ask sends a question as the API server does.
func ask(t testing.TB, h *Handler, review *admissionv1.AdmissionReview) (*admissionv1.AdmissionResponse, *httptest.ResponseRecorder) {
	t.Helper()
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, h, body)
}

func send(t testing.TB, h *Handler, body []byte) (*admissionv1.AdmissionResponse, *httptest.ResponseRecorder) {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, bytes.NewReader(body)))
	var answer admissionv1.AdmissionReview
	if recorder.Code == http.StatusOK {
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil || answer.Response.UID != "1" {
			t.Fatalf("answer %s: %v", recorder.Body, err)
		}
	}
	return answer.Response, recorder
}

func TestAnswers(t *testing.T) {
	deleted := strings.Replace(pod(failing), `"name":"notes",`, `"name":"notes","deletionTimestamp":"2026-01-01T00:00:00Z",`, 1)
	labelled := strings.Replace(pod(failing), `"name":"notes",`, `"name":"notes","labels":{"a":"b"},`, 1)
	const unreadable = `{"metadata":{"name":"notes"},"spec":{"containers":{}}}`
	for name, test := range map[string]struct {
		mode      v1alpha1.GateMode
		operation admissionv1.Operation
		old, new  string
		allowed   bool
		counted   string
		warnings  int
	}{
		"what passed":                     {"Enforce", "CREATE", "", pod(passing), true, "allowed Passed Enforce", 0},
		"what failed":                     {"Enforce", "CREATE", "", pod(passing, failing), false, "denied Failed Enforce", 0},
		"what failed, with a warning":     {"Warn", "CREATE", "", pod(failing), true, "warned Failed Warn", 1},
		"what failed, for the log":        {"Audit", "CREATE", "", pod(failing), true, "audited Failed Audit", 0},
		"what runs already":               {"Enforce", "UPDATE", pod(failing), labelled, true, "unmatched None None", 0},
		"what is new":                     {"Enforce", "UPDATE", pod(passing), pod(passing, failing), false, "denied Failed Enforce", 0},
		"what is deleted":                 {"Enforce", "UPDATE", deleted, pod(failing, "another"), true, "unmatched None None", 0},
		"what says that it is deleted":    {"Enforce", "UPDATE", pod(passing), deleted, false, "denied Failed Enforce", 0},
		"what is created as deleted":      {"Enforce", "CREATE", "", deleted, false, "denied Failed Enforce", 0},
		"a deletion":                      {"Enforce", "DELETE", pod(failing), "", true, "unmatched None None", 0},
		"what cannot be read":             {"Enforce", "CREATE", "", unreadable, false, "denied Unreadable Enforce", 0},
		"the same that cannot be read":    {"Enforce", "UPDATE", unreadable, strings.Replace(unreadable, "notes", "n", 1), true, "unmatched None None", 0},
		"another that cannot be read":     {"Enforce", "UPDATE", pod(passing), unreadable, false, "denied Unreadable Enforce", 0},
		"after one that cannot be read":   {"Enforce", "UPDATE", unreadable, pod(failing), false, "denied Failed Enforce", 0},
		"what cannot be read, warned of":  {"Warn", "CREATE", "", unreadable, true, "warned Unreadable Warn", 1},
		"what cannot be read, in the log": {"Audit", "CREATE", "", unreadable, true, "audited Unreadable Audit", 0},
		"nothing":                         {"Enforce", "CREATE", "", "null", false, "denied Unreadable Enforce", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h, counted := newHandler(newFacts(test.mode))
			answer, recorder := ask(t, h, question(test.operation, test.old, test.new))
			if recorder.Code != http.StatusOK {
				t.Fatalf("%d %s", recorder.Code, recorder.Body)
			}
			if answer.Allowed != test.allowed || len(answer.Warnings) != test.warnings || !slices.Equal(counted.all, []string{test.counted}) {
				t.Errorf("allowed = %t, warnings %q, counted %q", answer.Allowed, answer.Warnings, counted.all)
			}
			if !answer.Allowed && (answer.Result.Code != http.StatusForbidden || answer.Result.Reason != metav1.StatusReasonForbidden || answer.Result.Message == "") {
				t.Errorf("result %+v", answer.Result)
			}
			if answer.Patch != nil || answer.PatchType != nil {
				t.Error("the gate changes something")
			}
		})
	}
}

// TestServersThatAreUnclear: a label is put on them as on any other object.
// Who administers a namespace may write policies there, but must not keep the gate from
// answering for those of the cluster by them.
func TestSoManyPoliciesThatNoneAnswersInTime(t *testing.T) {
	known := newFacts(v1alpha1.GateEnforce)
	for range 1000 {
		known.known.Policies = append(known.known.Policies, policyOf(v1alpha1.GateAudit))
	}
	h, _ := newHandler(known)
	var images []string
	for range 100 {
		images = append(images, passing)
	}
	response, _ := ask(t, h, question(admissionv1.Create, "", pod(images...)))
	if want := "it has 100 containers for 1001 policies to judge"; response.Allowed || !strings.Contains(response.Result.Message, want) {
		t.Errorf("got %v %v, want a denial that says %s", response.Allowed, response.Result, want)
	}
	if response, _ = ask(t, h, question(admissionv1.Create, "", pod(images[:10]...))); !response.Allowed {
		t.Errorf("what can be judged is denied: %v", response.Result)
	}
	if response, _ = ask(t, h, question(admissionv1.Update, pod(images...), strings.Replace(pod(images...), "{", `{"metadata":{"labels":{"a":"b"}},`, 1))); !response.Allowed {
		t.Errorf("what runs already is denied: %v", response.Result)
	}
}

func TestServersThatAreUnclear(t *testing.T) {
	const unclear = `{"metadata":{"name":"notes"},"spec":{"image":{"repository":"notes"}}}`
	labelled := strings.Replace(unclear, `"name":"notes"}`, `"name":"notes","labels":{"a":"b"}}`, 1)
	for new, allowed := range map[string]bool{labelled: true, strings.Replace(unclear, `"repository":"notes"`, `"repository":"leaky"`, 1): false} {
		h, _ := newHandler(newFacts("Enforce"))
		review := question("UPDATE", unclear, new)
		review.Request.Kind = metav1.GroupVersionKind{Group: "toolhive.stacklok.dev", Version: "v1", Kind: "MCPServer"}
		if answer, _ := ask(t, h, review); answer.Allowed != allowed {
			t.Errorf("%s: allowed = %t, %v", new, answer.Allowed, answer.Result)
		}
	}
}

// TestNamespaceOfTheRequest counts, whatever the object says.
func TestNamespaceOfTheRequest(t *testing.T) {
	h, counted := newHandler(newFacts("Enforce"))
	review := question("CREATE", "", strings.Replace(pod(failing), "team-a", "team-b", 1))
	if answer, _ := ask(t, h, review); answer.Allowed {
		t.Error("admitted by a namespace of the object's choice")
	}
	review.Request.Namespace, review.Request.Object.Raw = "team-b", []byte("null")
	if answer, _ := ask(t, h, review); !answer.Allowed {
		t.Error("what cannot be read is denied where no policy is")
	}
	if want := []string{"denied Failed Enforce", "unmatched None None"}; !slices.Equal(counted.all, want) {
		t.Errorf("counted %q", counted.all)
	}
}

func TestAnnotations(t *testing.T) {
	h, _ := newHandler(newFacts("Audit"))
	answer, _ := ask(t, h, question("CREATE", "", pod(passing, failing)))
	got := answer.AuditAnnotations
	if !strings.Contains(got["message"], failing) {
		t.Errorf("message %q", got["message"])
	}
	delete(got, "message")
	want := map[string]string{"decision": "audited", "reason": "Failed", "policy": "MCPAuditPolicy/team-a/default", "audit": "team-a/leaky", "opinions": "2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	key := regexp.MustCompile(`^[a-z]+$`)
	long := annotations(gate.Decision{Opinions: []gate.Opinion{{
		Policy: policyOf("Enforce"), Action: v1alpha1.ActionDeny, Sentence: strings.Repeat("\n", 5000),
		Exception: &gate.Exception{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "leaky"}, Ticket: strings.Repeat("é", 5000)},
	}}})
	for k, v := range long {
		if !key.MatchString(k) || len(v) > maxAnnotation || strings.Contains(v, "\n") {
			t.Errorf("annotation %s has %d bytes", k, len(v))
		}
	}
}

func TestWhatIsNoQuestion(t *testing.T) {
	good, err := json.Marshal(question("CREATE", "", pod(passing)))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		body   []byte
		facts  *facts
		status int
		cause  string
	}{
		"nothing":         {nil, newFacts("Enforce"), http.StatusBadRequest, "malformed"},
		"no JSON":         {[]byte("{"), newFacts("Enforce"), http.StatusBadRequest, "malformed"},
		"no request":      {[]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`), newFacts("Enforce"), http.StatusBadRequest, "malformed"},
		"another version": {bytes.Replace(good, []byte("k8s.io/v1"), []byte("k8s.io/v1beta1"), 1), newFacts("Enforce"), http.StatusBadRequest, "malformed"},
		"too much":        {bytes.Repeat([]byte(" "), maxBody+1), newFacts("Enforce"), http.StatusRequestEntityTooLarge, "too_large"},
		"too early":       {good, &facts{empty: true}, http.StatusServiceUnavailable, "not_synced"},
		"a panic":         {good, &facts{broken: true}, http.StatusInternalServerError, "panic"},
	} {
		h, counted := newHandler(test.facts)
		if _, recorder := send(t, h, test.body); recorder.Code != test.status || !slices.Equal(counted.all, []string{"failed " + test.cause}) {
			t.Errorf("%s: %d, counted %q", name, recorder.Code, counted.all)
		}
	}
}

// TestLargeQuestionsTakeTurns, and small ones do not wait for them.
func TestLargeQuestionsTakeTurns(t *testing.T) {
	h, counted := newHandler(newFacts("Enforce"))
	for range maxLarge {
		if _, err := h.wait(t.Context(), large); err != nil {
			t.Fatal(err)
		}
	}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequestWithContext(gone, http.MethodPost, Path, bytes.NewReader(make([]byte, large))))
	if recorder.Code != http.StatusServiceUnavailable || !slices.Equal(counted.all, []string{"failed busy"}) {
		t.Errorf("%d, counted %q", recorder.Code, counted.all)
	}
	if answer, _ := ask(t, h, question("CREATE", "", pod(passing))); !answer.Allowed {
		t.Error("a small question waits for large ones")
	}
}

// BenchmarkHuge is an object of 3 MB and 20,000 containers, each with an image of its
// own. It has to be decided well within a second: under failurePolicy Ignore a webhook
// that takes longer than its timeout lets everything through.
func BenchmarkHuge(b *testing.B) {
	list := func(image func(int) string, tail string) string {
		var containers []string
		for i := range 20_000 {
			containers = append(containers, fmt.Sprintf(`{"name":"container-%d","image":%q,"args":["%d%s"]}`, i, image(i), i, tail))
		}
		return `{"metadata":{"name":"notes"},"spec":{"containers":[` + strings.Join(containers, ",") + `]}}`
	}
	own := func(i int) string { return fmt.Sprintf("registry.example/%d/%s:1", i, strings.Repeat("x", 60)) }
	one := func(int) string { return failing }
	for name, review := range map[string]*admissionv1.AdmissionReview{
		"create/own-images": question("CREATE", "", list(own, "a")),
		"create/one-image":  question("CREATE", "", list(one, "a")),
		"update/own-images": question("UPDATE", list(own, "a"), list(own, "b")),
		"update/one-image":  question("UPDATE", list(one, "a"), list(one, "b")),
	} {
		body, err := json.Marshal(review)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			h, _ := newHandler(newFacts("Enforce"))
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if answer, _ := send(b, h, body); answer.Allowed {
					b.Fatal("admitted")
				}
			}
		})
	}
}

func FuzzServe(f *testing.F) {
	for _, object := range []string{pod(passing), pod(failing), "null", "{}"} {
		body, err := json.Marshal(question("UPDATE", pod(passing), object))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		h, counted := newHandler(newFacts("Enforce"))
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, bytes.NewReader(body)))
		if slices.Contains(counted.all, "failed panic") {
			t.Errorf("a panic: %q", body)
		}
	})
}

package admission

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// padded is a Pod of a failing image that the API server writes in six times as many bytes.
func padded(n int) string {
	return strings.Replace(pod(failing), `"image"`, `"env":[{"name":"PAD","value":"`+strings.Repeat("<", n)+`"}],"image"`, 1)
}

// TestR1WhatCannotBeReadWholeIsDenied: an error would have failurePolicy Ignore admit it.
func TestR1WhatCannotBeReadWholeIsDenied(t *testing.T) {
	nested := question("CREATE", "", pod(failing))
	nested.Request.Object.Raw = []byte(`"<nested>"`)
	deep, err := json.Marshal(nested)
	if err != nil {
		t.Fatal(err)
	}
	deep = bytes.Replace(deep, []byte(`"\u003cnested\u003e"`), []byte(strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)), 1)
	encoded := func(operation admissionv1.Operation) []byte {
		body, err := json.Marshal(question(operation, "", padded(1_300_000)))
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	for name, test := range map[string]struct {
		body    []byte
		mode    v1alpha1.GateMode
		allowed bool
		counted []string
	}{
		"too large":         {encoded("CREATE"), "Enforce", false, []string{"denied Unreadable Enforce", "failed too_large"}},
		"a large update":    {encoded("UPDATE"), "Enforce", false, []string{"denied Unreadable Enforce", "failed too_large"}},
		"nested too deeply": {deep, "Enforce", false, []string{"denied Unreadable Enforce", "failed malformed"}},
		"under Warn":        {encoded("CREATE"), "Warn", true, []string{"warned Unreadable Warn", "failed too_large"}},
		"deleting":          {encoded("DELETE"), "Enforce", true, []string{"unmatched None None", "failed too_large"}},
	} {
		h, counted := newHandler(newFacts(test.mode))
		answer, recorder := send(t, h, test.body)
		if recorder.Code != http.StatusOK || answer.Allowed != test.allowed || answer.UID != "1" || !slices.Equal(counted.all, test.counted) {
			t.Errorf("%s: status %d, %+v, counted %q", name, recorder.Code, answer, counted.all)
		}
		if !test.allowed && !strings.Contains(answer.Result.Message, "Pod notes cannot be judged: ") {
			t.Errorf("%s: %s", name, answer.Result.Message)
		}
	}
}

// TestR2LargeRequestsKeepOutNoSmallOnes: large requests that were received whole fill what
// large ones may have, and the next one is denied; small ones are decided all the same.
func TestR2LargeRequestsKeepOutNoSmallOnes(t *testing.T) {
	h, counted := newHandler(newFacts("Enforce"))
	h.init()
	for range 6 { // as many as fit
		h.bodies.held = append(h.bodies.held, &body{remote: "10.0.0.1", size: 4 << 20})
		h.bodies.used += 4 << 20
	}
	if answer, recorder := ask(t, h, question("CREATE", "", pod(passing))); recorder.Code != http.StatusOK || !answer.Allowed {
		t.Errorf("a small request: status %d, %+v", recorder.Code, answer)
	}
	counted.all = nil
	answer, recorder := ask(t, h, question("CREATE", "", padded(large)))
	if recorder.Code != http.StatusOK || answer.Allowed || !slices.Equal(counted.all, []string{"denied Unreadable Enforce", "failed busy"}) {
		t.Errorf("a large request: status %d, %+v, counted %q", recorder.Code, answer, counted.all)
	}
}

// TestR2WhoGetsNoTurnIsDenied: not admitted, however many others are decided about.
func TestR2WhoGetsNoTurnIsDenied(t *testing.T) {
	h, counted := newHandler(newFacts("Enforce"))
	for range maxLarge {
		if _, err := h.wait(t.Context(), large); err != nil {
			t.Fatal(err)
		}
	}
	answer, recorder := ask(t, h, question("CREATE", "", padded(large)))
	if recorder.Code != http.StatusOK || answer.Allowed || !slices.Equal(counted.all, []string{"denied Unreadable Enforce", "failed busy"}) {
		t.Errorf("status %d, %+v, counted %q", recorder.Code, answer, counted.all)
	}
}

// TestR3NamesThatAreNone: whoever reaches the gate may claim uses of exceptions, with names
// of any length.
func TestR3NamesThatAreNone(t *testing.T) {
	request := question("CREATE", "", pod(failing)).Request
	request.Name, request.Kind.Kind = strings.Repeat("x", 1<<20), strings.Repeat("y", 1<<20)
	request.UserInfo.Username = strings.Repeat("z", 1<<20)
	used := useOf(request, gate.Opinion{Policy: policyOf("Enforce"), Exception: &gate.Exception{}})
	if n := len(used.name) + len(used.kind) + len(used.note); n > 2<<10 {
		t.Errorf("a use has %d bytes", n)
	}
	u := NewUses(nil, nil, clock.RealClock{})
	for i := range maxTold {
		u.told[use{name: string(rune(i))}] = u.clock.Now()
	}
	u.used[used.exception] = u.clock.Now()
	if err := u.write(t.Context(), used); err != nil || len(u.told) > maxTold {
		t.Errorf("%d are remembered, %v", len(u.told), err)
	}
}

// TestR7SoManyVerdictsThatNobodyAnswersInTime: who writes policies and audits in a namespace
// must not make the gate so slow that failurePolicy admits what another policy denies.
func TestR7SoManyVerdictsThatNobodyAnswersInTime(t *testing.T) {
	f := newFacts("Enforce")
	for range 1000 {
		f.known.Policies = append(f.known.Policies, policyOf("Audit"))
	}
	audits := func(n int) {
		f.verdicts[string(digestOf(passing))] = slices.Repeat([]*gate.Verdict{verdict("honest", passing, 0)}, n)
	}
	h, _ := newHandler(f)
	audits(900)
	if answer, _ := ask(t, h, question("CREATE", "", pod(passing, passing))); !answer.Allowed {
		t.Errorf("what can be judged is denied: %v", answer.Result)
	}
	audits(1000)
	answer, _ := ask(t, h, question("CREATE", "", pod(passing)))
	if want := "its images have 1000 audits for 1001 policies to read"; answer.Allowed || !strings.Contains(answer.Result.Message, want) {
		t.Errorf("got %t %v, want a denial that says %s", answer.Allowed, answer.Result, want)
	}
}

// endless are facts whose verdicts take until they are let go.
type endless struct {
	*facts
	let chan struct{}
}

func (e *endless) Facts(now time.Time) gate.Facts {
	known := e.facts.Facts(now)
	known.Verdicts = e
	return known
}

func (e *endless) ByDigest(digest v1alpha1.Digest) []*gate.Verdict {
	<-e.let
	return e.facts.ByDigest(digest)
}

// TestX1WhatIsNotDecidedInTimeIsDenied: no answer at all would have failurePolicy Ignore admit it.
func TestX1WhatIsNotDecidedInTimeIsDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := &endless{facts: newFacts("Enforce"), let: make(chan struct{})}
		h, counted := newHandler(known.facts)
		h.Index, h.answering = known, 0
		begin := time.Now()
		answer, recorder := ask(t, h, question("CREATE", "", pod(passing)))
		if took := time.Since(begin); took >= 3*time.Second {
			t.Errorf("answered after %s", took)
		}
		if recorder.Code != http.StatusOK || answer.Allowed || !slices.Equal(counted.all, []string{"denied Unreadable Enforce", "failed late"}) {
			t.Errorf("status %d, %+v, counted %q", recorder.Code, answer, counted.all)
		}
		if h.bodies.used == 0 || len(h.turns[false]) != 1 {
			t.Errorf("the decision holds %d bytes and %d turns while it goes on", h.bodies.used, len(h.turns[false]))
		}
		close(known.let)
		synctest.Wait()
		if h.bodies.used != 0 || len(h.turns[false]) != 0 || len(counted.all) != 2 {
			t.Errorf("after its end: %d bytes, %d turns, counted %q", h.bodies.used, len(h.turns[false]), counted.all)
		}
	})
}

// TestX1SoManyPatternsThatNobodyAnswersInTime: a pattern of many stars takes milliseconds for one
// image, and a policy may have many of them.
func TestX1SoManyPatternsThatNobodyAnswersInTime(t *testing.T) {
	f := newFacts("Enforce")
	costly := &v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "costly"}, Spec: v1alpha1.MCPAuditPolicySpec{
		Match: &v1alpha1.Match{Images: slices.Repeat([]string{"**" + strings.Repeat("*e", 250) + "x"}, 64)}, Gate: v1alpha1.Gate{Mode: v1alpha1.GateAudit},
	}}
	f.known.Policies = append(f.known.Policies, gate.ReadPolicy(costly))
	h, _ := newHandler(f)
	answer, _ := ask(t, h, question("CREATE", "", pod(slices.Repeat([]string{passing}, 10)...)))
	if answer.Allowed || !strings.Contains(answer.Result.Message, "bytes of patterns, which are too many") {
		t.Errorf("got %t %v", answer.Allowed, answer.Result)
	}
	f.known.Policies = []*gate.Policy{policyOf("Enforce"), gate.ReadPolicy(costly)}
	if answer, _ := ask(t, h, question("CREATE", "", pod(passing))); !answer.Allowed {
		t.Errorf("what can be judged is denied: %v", answer.Result)
	}
}

// TestR9ManySmallObjects: what is small on the wire may be large in memory.
func TestR9ManySmallObjects(t *testing.T) {
	of := func(n int, one string) []byte {
		body, err := json.Marshal(question("CREATE", "", strings.Replace(pod(failing), `"containers":[`, `"containers":[`+strings.Repeat(one, n), 1)))
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	for name, body := range map[string][]byte{"objects": of(maxObjects, `{},`), "values": of(1, `{"args":[`+strings.Repeat(`"",`, maxValues)+`""]},`)} {
		h, counted := newHandler(newFacts("Enforce"))
		answer, _ := send(t, h, body)
		if answer.Allowed || !slices.Equal(counted.all, []string{"denied Unreadable Enforce", "failed too_large"}) || !strings.Contains(answer.Result.Message, "values of JSON, which are too many") {
			t.Errorf("%s: %+v, counted %q", name, answer, counted.all)
		}
	}
	body := of(large/objectBytes, `{},`)
	if weight, err := weightOf(body); err != nil || len(body) >= large || weight < large {
		t.Errorf("%d bytes weigh %d: %v", len(body), weight, err)
	}
	if weight, err := weightOf([]byte(`{"a":"\"{{{{,,,,","b":"{"}`)); err != nil || weight != objectBytes {
		t.Errorf("texts weigh %d: %v", weight, err)
	}
}

// TestX6OnlyTheAPIServerSaysWhatIsDeleted: a field of the author's own whose name differs in the
// case of a letter says nothing.
func TestX6OnlyTheAPIServerSaysWhatIsDeleted(t *testing.T) {
	for old, want := range map[string]bool{
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`: true,
		`{"metadata":{"deletiontimestamp":"2026-01-01T00:00:00Z"}}`: false,
		`{"Metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`: false,
		`{"metadata":{"deletionTimestamp":null}}`:                   false,
	} {
		if got := beingDeleted([]byte(old)); got != want {
			t.Errorf("%s: %t", old, got)
		}
	}
}

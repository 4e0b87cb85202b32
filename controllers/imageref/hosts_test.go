package imageref

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestHostsBoundsQuestions(t *testing.T) {
	var h hosts
	for range perHost {
		if err := h.enter("a", start); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.enter("a", start); !errors.Is(err, ErrBusy) {
		t.Errorf("one question too many to a registry: %v", err)
	}
	for i := range MaxQuestions - perHost {
		if err := h.enter(fmt.Sprint("b", i), start); err != nil {
			t.Fatalf("another registry is affected: %v", err)
		}
	}
	if err := h.enter("c", start); !errors.Is(err, ErrBusy) {
		t.Errorf("one question too many to all: %v", err)
	}
	h.leave("a", start, false)
	if err := h.enter("c", start); err != nil {
		t.Errorf("after an answer: %v", err)
	}
}

func TestHostsRemembersSilence(t *testing.T) {
	var h hosts
	enter := func(name string, at time.Duration, want error) {
		t.Helper()
		if err := h.enter(name, start.Add(at)); !errors.Is(err, want) {
			t.Errorf("question to %s after %s: %v, want %v", name, at, err, want)
		}
	}
	enter("a", 0, nil)
	enter("a", 0, nil)
	h.leave("a", start, true)
	enter("a", time.Second, ErrUnreachable)
	enter("b", time.Second, nil)
	h.leave("a", start.Add(5*time.Second), true) // the other one that was waiting
	enter("a", 5*time.Second+memory-1, ErrUnreachable)
	enter("a", 5*time.Second+memory, nil)            // one tries
	enter("a", 6*time.Second+memory, ErrUnreachable) // and the others wait for it
	h.leave("a", start.Add(7*time.Second+memory), true)
	enter("a", 8*time.Second+memory, ErrUnreachable)
	enter("a", 7*time.Second+2*memory, nil)
	h.leave("a", start.Add(time.Minute), false)
	enter("a", time.Minute, nil)
	enter("a", time.Minute, nil)
}

// TestHostsForgets: registries are named by tenants, any number of them.
func TestHostsForgets(t *testing.T) {
	var h hosts
	for i := range 1000 {
		name := fmt.Sprint("dead", i)
		if err := h.enter(name, start); err != nil {
			t.Fatal(err)
		}
		h.leave(name, start, i%2 == 0)
	}
	if len(h.byName) != 500 {
		t.Errorf("%d registries are known, of which 500 failed", len(h.byName))
	}
	if err := h.enter("a", start.Add(2*memory)); err != nil || len(h.byName) != 1 {
		t.Errorf("%d registries are known later: %v", len(h.byName), err)
	}
}

// hostile panics over an answer, as a parser may.
type hostile struct{}

func (hostile) RoundTrip(*http.Request) (*http.Response, error) { panic("over an answer") }

// A panic is recovered from above, and the next question must not pay for it.
func TestPanicGivesBack(t *testing.T) {
	resolver, err := New(Config{Platform: "linux/amd64", Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	resolver.connect = func(*origin) http.RoundTripper { return hostile{} }
	for range 2 * MaxQuestions {
		func() {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic")
				}
			}()
			_, err := resolver.Digest(t.Context(), "registry.example/a:v1", nil)
			t.Fatalf("the registry was not asked: %v", err)
		}()
	}
	if resolver.hosts.asking != 0 || len(resolver.hosts.byName) != 0 {
		t.Errorf("%d questions are still being asked, of %d registries", resolver.hosts.asking, len(resolver.hosts.byName))
	}
}

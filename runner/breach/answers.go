package breach

import "sync"

// Answers knows which requests were sent, and which of them were answered. The
// zero value knows of none. Any goroutine may use it.
type Answers struct {
	mu   sync.Mutex
	sent map[string]int // how many answers may come, by id as JSON
}

// Sent tells of a request, before it is sent.
func (a *Answers) Sent(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent == nil {
		a.sent = map[string]int{}
	}
	a.sent[id] = 1
}

// GivenUp tells that the server was asked to cancel a request. The official SDK for Python answers that with an error,
// even if the answer to the request is on its way.
func (a *Answers) GivenUp(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, sent := a.sent[id]; sent {
		a.sent[id]++
	}
}

// Came tells of an answer, and returns what is wrong with it; "" if nothing is.
// That the request was given up on is no concern of its first answer.
func (a *Answers) Came(id string) Kind {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch left, sent := a.sent[id]; {
	case !sent:
		return Unasked
	case left <= 0:
		return Twice
	}
	a.sent[id]--
	return ""
}

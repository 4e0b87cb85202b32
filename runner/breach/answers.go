package breach

import "sync"

// Answers knows which requests were sent, and which of them were answered. The
// zero value knows of none. Any goroutine may use it.
type Answers struct {
	mu   sync.Mutex
	sent map[string]bool // by id, as JSON; true once it was answered
}

// Sent tells of a request, before it is sent.
func (a *Answers) Sent(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent == nil {
		a.sent = map[string]bool{}
	}
	a.sent[id] = false
}

// Came tells of an answer, and returns what is wrong with it; "" if nothing is.
// That the request was given up on is no concern of its first answer.
func (a *Answers) Came(id string) Kind {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch answered, sent := a.sent[id]; {
	case !sent:
		return Unasked
	case answered:
		return Twice
	}
	a.sent[id] = true
	return ""
}

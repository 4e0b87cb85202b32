package lazyregexp

import (
	"sync"
	"testing"
)

// Without this, an expression that does not compile would end an audit in the middle.
func TestNewCompilesInTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New took an expression that does not compile")
		}
	}()
	New(`(`)
}

func TestFirstUseIsConcurrent(t *testing.T) {
	re := &Regexp{expr: `^a+$`}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !re.MatchString("aaa") || re.MatchString("aab") {
				t.Error("it does not match what it says")
			}
		})
	}
	all.Wait()
}

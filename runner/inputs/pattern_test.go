package inputs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestZ3PatternsAreBounded: a pattern that stands for very many states is not compiled, and none is without allowance.
func TestZ3PatternsAreBounded(t *testing.T) {
	for pattern, want := range map[string]bool{
		`^[a-z0-9]{1,255}$`: true, `^[\p{L}\s]{1,1000}$`: true, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`: true, `^(?:[a-z]{1,63}\.){1,10}[a-z]{2,63}$`: true,
		`^([a-z]{1,30}){1,30}$`: true, strings.Repeat(`[a-z]{1000}`, 90): false, strings.Repeat(`([a-z]{1,100}){10}`, 50): false, strings.Repeat("a", 1025): false, `(?=a)`: false,
	} {
		c := checker{resolver: resolver{allowance: 2 * budget}}
		if _, ok := c.compile(pattern); ok != want {
			t.Errorf("%.60s: compiled is %v", pattern, ok)
		}
		poor := checker{resolver: resolver{allowance: 15}}
		if _, ok := poor.compile(pattern); ok {
			t.Errorf("%.60s: compiled without allowance", pattern)
		}
	}
	many := map[string]any{}
	for i := range 200 {
		many[fmt.Sprintf("^([a-z]{1,30}){1,30}%d$", i)] = map[string]any{"type": "string"}
	}
	c := checker{resolver: resolver{allowance: 2 * budget}, short: no}
	object, compiled := map[string]any{}, 0
	for i := range maxFields {
		object[fmt.Sprint("p", i)] = "x"
	}
	c.check(map[string]any{"patternProperties": many}, object, 0)
	for c.allowance > 0 {
		if _, ok := c.compile(`^([a-z]{1,30}){1,30}$`); ok {
			compiled++
		}
	}
	if compiled > 0 {
		t.Errorf("%d patterns could still be compiled after %d comparisons", compiled, len(many)*len(object))
	}
	form := NewForm(json.RawMessage(`{"properties": {"name": {"type": "string", "pattern": "^[a-z]{3,40}-[0-9]{2}$"}}, "required": ["name"]}`), Options{})
	if first, ok := form.Next(NewPool(), Mark{}); !ok || !strings.Contains(string(first.Arguments), "aaa-11") {
		t.Errorf("arguments for a pattern: %s, %v", first.Arguments, ok)
	}
}

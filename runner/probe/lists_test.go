package probe

import (
	"testing"
	"testing/synctest"
	"time"
)

// A launch that gives calls two seconds gives lists what they take: without them nothing can be compared.
func TestListsTakeTheirTime(t *testing.T) {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any {
			time.Sleep(20 * time.Second)
			return tools(noteTool)
		},
	}}
	o := quick
	o.CallTimeout = 2 * time.Second
	synctest.Test(t, func(t *testing.T) {
		if r := f.within(t, time.Hour, o); !r.Listed || r.Incomplete.Reason != "" {
			t.Errorf("listed %t: %+v", r.Listed, r.Incomplete)
		}
	})
}

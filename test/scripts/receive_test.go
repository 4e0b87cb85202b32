package scripts

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// receive FAILURES starts an endpoint on the loopback address, whose URL is in $HOOK. It
// answers that many requests with 503 and Retry-After 0, and the others with 202; what
// it is sent is in $WORK/received, the headers first.
func receive(ts *testscript.TestScript, _ bool, args []string) {
	var failures, asked atomic.Int32
	var n int32
	if _, err := fmt.Sscan(args[0], &n); err != nil {
		ts.Fatalf("receive: %v", err)
	}
	failures.Store(n)
	file := filepath.Join(ts.Getenv("WORK"), "received")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var lines []string
		for name, values := range r.Header {
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
		slices.Sort(lines)
		text := fmt.Sprintf("attempt %d\n%s %s\n%s\n\n%s", asked.Add(1), r.Method, r.URL, strings.Join(lines, "\n"), body)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		if failures.Add(-1) >= 0 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	ts.Defer(s.Close)
	ts.Setenv("HOOK", s.URL)
}

package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/webhook"
)

// clock is a time that only goes on when somebody waits.
type clock struct {
	now   time.Time
	waits []time.Duration
}

func (c *clock) wait(ctx context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

// start is on a whole second, as dates of HTTP are.
var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func client(retries int) (webhook.Client, *clock) {
	c := &clock{now: start}
	return webhook.Client{Retries: retries, Wait: c.wait, Jitter: func() float64 { return 0.5 }, Now: func() time.Time { return c.now }}, c
}

func delivery(url string) webhook.Delivery {
	return webhook.Delivery{URL: url, Header: http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {`"abc-json"`}, "Authorization": {"Bearer hunter2"}}, Body: []byte(`{"a":1}`)}
}

// answers is an endpoint that gives these answers one after the other, the last one
// again and again; it wants every attempt to be the whole delivery.
func answers(t *testing.T, all ...func(http.ResponseWriter)) (string, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || string(body) != `{"a":1}` || r.Header.Get("Idempotency-Key") != `"abc-json"` {
			t.Errorf("%s %q with %v", r.Method, body, r.Header)
		}
		all[min(int(asked.Add(1)), len(all))-1](w)
	}))
	t.Cleanup(s.Close)
	return s.URL, &asked
}

func says(status int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, "because\x1b[2J of hunter\nand more")
	}
}

func TestSend(t *testing.T) {
	date := start.Add(90 * time.Second).Format(http.TimeFormat)
	for name, tc := range map[string]struct {
		answers []func(http.ResponseWriter)
		waits   []time.Duration
		err     string // "" if it is delivered
	}{
		"at once":           {answers: []func(http.ResponseWriter){says(202)}},
		"busy":              {answers: []func(http.ResponseWriter){says(503), says(500), says(204)}, waits: []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond}},
		"retry after":       {answers: []func(http.ResponseWriter){says(429, "Retry-After", "7"), says(503, "Retry-After", date), says(200)}, waits: []time.Duration{7 * time.Second, 83 * time.Second}},
		"odd retry after":   {answers: []func(http.ResponseWriter){says(429, "Retry-After", "soon"), says(200)}, waits: []time.Duration{750 * time.Millisecond}},
		"refused":           {answers: []func(http.ResponseWriter){says(401)}, err: `the endpoint answered 401 Unauthorized: "because\x1b[2J of hunter"`},
		"not implemented":   {answers: []func(http.ResponseWriter){says(501)}, err: `the endpoint answered 501 Not Implemented: "because\x1b[2J of hunter"`},
		"redirect":          {answers: []func(http.ResponseWriter){says(307, "Location", "http://127.0.0.1:1/")}, err: "the endpoint answered 307 Temporary Redirect: redirects are not followed: use the URL that it redirects to"},
		"busy to the end":   {answers: []func(http.ResponseWriter){says(502)}, waits: []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second}, err: `the endpoint answered 502 Bad Gateway: "because\x1b[2J of hunter" (tried 4 times)`},
		"connection breaks": {answers: []func(http.ResponseWriter){func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, says(200)}, waits: []time.Duration{750 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			url, asked := answers(t, tc.answers...)
			c, at := client(3)
			_, err := c.Send(t.Context(), delivery(url))
			if got := fmt.Sprint(err); err == nil && tc.err != "" || err != nil && got != tc.err {
				t.Errorf("%v, want %q", err, tc.err)
			}
			if diff := cmp.Diff(tc.waits, at.waits); diff != "" {
				t.Error(diff)
			}
			if int(asked.Load()) != len(tc.waits)+1 {
				t.Errorf("%d attempts", asked.Load())
			}
		})
	}
}

// TestWaitsGrow: twice as long each time up to a bound, with a part left to chance.
func TestWaitsGrow(t *testing.T) {
	url, _ := answers(t, says(500))
	c, at := client(9)
	c.Jitter = func() float64 { return 0 }
	if _, err := c.Send(t.Context(), delivery(url)); err == nil {
		t.Fatal("it is delivered")
	}
	want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 15 * time.Second, 15 * time.Second, 15 * time.Second}
	if !slices.Equal(at.waits, want) {
		t.Errorf("%v, want %v", at.waits, want)
	}
}

// TestNoTimeLeft: it does not wait for what it may not see.
func TestNoTimeLeft(t *testing.T) {
	url, asked := answers(t, says(429, "Retry-After", "3600"))
	c, at := client(3)
	at.now = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := c.Send(ctx, delivery(url))
	if err == nil || !strings.Contains(err.Error(), "the next attempt, in 1h0m0s") || asked.Load() != 1 || len(at.waits) != 0 {
		t.Errorf("%v after %d attempts", err, asked.Load())
	}
}

// TestErrorsKeepSecrets: what is in the URL and in the headers is in no error.
func TestErrorsKeepSecrets(t *testing.T) {
	c, at := client(1)
	var told []string
	c.OnRetry = func(text string) { told = append(told, text) }
	_, err := c.Send(t.Context(), delivery("http://127.0.0.1:1/hooks/hunter2?key=hunter2"))
	if err == nil || len(at.waits) != 1 || len(told) != 1 || strings.Contains(err.Error()+told[0], "hunter2") {
		t.Errorf("%v, told %q", err, told)
	}
}

// TestTLS: a certificate that nobody vouches for is not tried again.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = nil
	s.StartTLS()
	defer s.Close()
	c, at := client(3)
	if _, err := c.Send(t.Context(), delivery(s.URL)); err == nil || len(at.waits) != 0 {
		t.Errorf("%v after %v", err, at.waits)
	}
	c.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
	c.TLS.RootCAs.AddCert(s.Certificate())
	if status, err := c.Send(t.Context(), delivery(s.URL)); err != nil || status != 200 {
		t.Errorf("%d, %v", status, err)
	}
}

// TestSign holds the signature to the example in GitHub's documentation of webhooks.
func TestSign(t *testing.T) {
	want := "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	if got := webhook.Sign([]byte("Hello, World!"), []byte("It's a Secret to Everybody")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Package webhook posts a document to an HTTP endpoint, with a bounded number of retries. It
// follows no redirects.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// SignatureHeader carries "sha256=" and the hex HMAC-SHA-256 of the body, like
// X-Hub-Signature-256 of GitHub's webhooks.
const SignatureHeader = "X-Mcpaudit-Signature-256"

// Sign returns the value of SignatureHeader.
func Sign(body, secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// The backoff between attempts is exponential, with jitter.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
	// maxResponse bounds what is read of a response, in bytes.
	maxResponse = 4096
)

// Client posts deliveries. The zero value is ready to use and does not retry.
type Client struct {
	// TLS is nil for the system's root certificates.
	TLS *tls.Config
	// Retries bounds the attempts after the first.
	Retries int
	// Attempt is the timeout of one attempt; 0 for none.
	Attempt time.Duration
	// Wait waits before the next attempt; nil for a timer. It returns the context's error if
	// that ends first.
	Wait func(context.Context, time.Duration) error
	// Jitter returns a number in [0, 1); nil for a random one.
	Jitter func() float64
	// Now is the clock for dates in Retry-After; nil for the real one.
	Now func() time.Time
	// OnRetry is called for each failed attempt that is retried.
	OnRetry func(string)
}

// Delivery is a request.
type Delivery struct {
	URL    string
	Header http.Header
	Body   []byte
}

// refusal is a response other than 2xx.
type refusal struct {
	status int
	text   string
	after  time.Duration // Retry-After; -1 without
}

func (r *refusal) Error() string { return r.text }

// Send posts the delivery until a response is 2xx or final, the retries are used up or the
// context ends. It returns the last status. Errors contain no headers or queries.
func (c Client) Send(ctx context.Context, d Delivery) (status int, err error) {
	client := c.client()
	defer client.CloseIdleConnections()
	for attempt := 0; ; attempt++ {
		status, err = c.attempt(ctx, client, d)
		if err == nil {
			return status, nil
		}
		if ctx.Err() != nil || !retryable(err) {
			return 0, err
		}
		if attempt == c.Retries {
			return 0, fmt.Errorf("%w (tried %d times)", err, attempt+1)
		}
		pause := c.pause(attempt, err)
		if end, ok := ctx.Deadline(); ok && c.now().Add(pause).After(end) {
			return 0, fmt.Errorf("%w (the next attempt, in %s, would exceed the timeout)", err, pause.Round(time.Second))
		}
		if c.OnRetry != nil {
			c.OnRetry(fmt.Sprintf("%v; retrying in %s", err, pause.Round(time.Millisecond)))
		}
		if c.wait(ctx, pause) != nil {
			return 0, err
		}
	}
}

func (c Client) client() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = c.TLS
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (c Client) attempt(ctx context.Context, client *http.Client, d Delivery) (int, error) {
	if c.Attempt > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Attempt)
		defer cancel()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		return 0, withoutURL(err)
	}
	request.Header = d.Header.Clone()
	response, err := client.Do(request)
	if err != nil {
		return 0, withoutURL(err)
	}
	defer func() { _ = response.Body.Close() }() // only read
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if response.StatusCode/100 == 2 {
		return response.StatusCode, nil
	}
	r := &refusal{status: response.StatusCode, after: c.after(response.Header.Get("Retry-After")), text: "the endpoint answered " + strconv.Itoa(response.StatusCode) + " " + http.StatusText(response.StatusCode)}
	if response.StatusCode/100 == 3 {
		r.text += ": redirects are not followed: use the URL that it redirects to"
	} else if line, _, _ := bytes.Cut(bytes.TrimSpace(body), []byte("\n")); len(line) > 0 {
		r.text += fmt.Sprintf(": %.200q", line)
	}
	return 0, r
}

// withoutURL unwraps an error of net/http, which contains the URL and its secrets.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// retryable reports whether another attempt may succeed; not after a rejected certificate or
// request.
func retryable(err error) bool {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.status == http.StatusTooManyRequests || r.status == http.StatusRequestTimeout || r.status >= 500 && r.status != http.StatusNotImplemented
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return !untrusted && !plain
}

// after parses Retry-After (RFC 9110, 10.2.3): seconds or a date; -1 for anything else.
func (c Client) after(text string) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 24*60*60)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(c.now()), 0)
	}
	return -1
}

// pause returns how long to wait after an attempt, counted from 0.
func (c Client) pause(attempt int, err error) time.Duration {
	if r, ok := errors.AsType[*refusal](err); ok && r.after >= 0 {
		return r.after
	}
	jitter := rand.Float64
	if c.Jitter != nil {
		jitter = c.Jitter
	}
	most := min(firstPause<<min(attempt, 10), maxPause)
	return most/2 + time.Duration(jitter()*float64(most/2))
}

func (c Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c Client) wait(ctx context.Context, pause time.Duration) error {
	if c.Wait != nil {
		return c.Wait(ctx, pause)
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

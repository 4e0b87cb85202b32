package imageref_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// secret answers from internal services must not be readable by way of a registry.
const secret = "SECRET-INTERNAL-VALUE"

// newInternal starts a service that a tenant cannot reach. It counts its requests.
func newInternal(t *testing.T) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = fmt.Fprintf(w, `{"accountId":"123456789012","kubeletBootstrap":%q}`, secret)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// newHostile starts a tenant's registry, which the operator lists: how it leads on is
// what is tested, and not whether it is reached itself.
func newHostile(t *testing.T, handler http.HandlerFunc) (host string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func resolveHostile(t *testing.T, host string, listed ...string) error {
	t.Helper()
	_, err := newResolver(t, append(listed, host)...).Resolve(t.Context(), host+"/a/b:v1", nil)
	if !errors.Is(err, imageref.ErrUnreachable) {
		t.Errorf("Resolve = %v, want ErrUnreachable", err)
	}
	if strings.Contains(fmt.Sprint(err), secret) {
		t.Errorf("the answer is in the error: %v", err)
	}
	return err
}

// TestS4RegistryCannotReachMetadata: the realm of a challenge leads, by a name, to an
// address that is not the registry's.
func TestS4RegistryCannotReachMetadata(t *testing.T) {
	internal, requests := newInternal(t)
	for _, realm := range []string{
		strings.Replace(internal, "127.0.0.1", "localhost", 1), internal,
		strings.Replace(internal, "http://127.0.0.1", "https://localhost", 1),
	} {
		err := resolveHostile(t, newHostile(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`/latest/dynamic/instance-identity/document",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		}))
		t.Log(err)
	}
	if requests.Load() != 0 {
		t.Errorf("the internal service was asked %d times", requests.Load())
	}
}

// TestS4NoBodyInErrors: a token server that may be asked answers with no token.
func TestS4NoBodyInErrors(t *testing.T) {
	internal, requests := newInternal(t)
	service := strings.TrimPrefix(internal, "http://")
	// By a name: the library itself refuses other hosts that are written as addresses.
	err := resolveHostile(t, newHostile(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			requests.Add(1)
			_, _ = fmt.Fprintf(w, `{"note":%q}`, secret)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}), service)
	if requests.Load() != 1 {
		t.Errorf("%d requests for a token; %v", requests.Load(), err)
	}
	for _, status := range []int{http.StatusTeapot, http.StatusInternalServerError, http.StatusOK} {
		_ = resolveHostile(t, newHostile(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"errors":[{"code":"UNKNOWN","message":%q}]}`, secret)
		}))
	}
}

// TestS4Redirects: neither to an address that is refused, nor to another scheme, nor for
// ever.
func TestS4Redirects(t *testing.T) {
	internal, requests := newInternal(t)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(secure.Close)
	var turns atomic.Int64
	for name, test := range map[string]struct {
		location func(r *http.Request) string
		want     string
	}{
		"to an address": {func(*http.Request) string { return internal + "/latest/meta-data/" }, "registries.plainHTTP"},
		"to a name":     {func(*http.Request) string { return strings.Replace(internal, "127.0.0.1", "localhost", 1) }, "registries.plainHTTP"},
		"to a scheme":   {func(*http.Request) string { return secure.URL }, "another scheme"},
		"for ever": {func(r *http.Request) string {
			return fmt.Sprintf("http://%s/v2/%d", r.Host, turns.Add(1))
		}, "redirects more than"},
	} {
		t.Run(name, func(t *testing.T) {
			err := resolveHostile(t, newHostile(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, test.location(r), http.StatusFound)
			}))
			if !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("Resolve = %v, want %q", err, test.want)
			}
		})
	}
	if requests.Load() != 0 {
		t.Errorf("the internal service was asked %d times", requests.Load())
	}
	if turns.Load() > 10 {
		t.Errorf("%d redirects were followed", turns.Load())
	}
}

// TestS4RefusesAddresses: a tenant names the address itself, and the question says what
// the operator can do about it.
func TestS4RefusesAddresses(t *testing.T) {
	resolver, err := imageref.New(imageref.Config{Platform: "linux/amd64", Timeout: 5 * time.Second, Registries: imageref.Registries{
		Internal: []string{"169.254.169.254:443", "localhost:1", "10.0.0.0/8", "198.51.100.0/24"}, PlainHTTP: []string{"169.254.169.254"},
		PrivateNetworks: []string{"203.0.113.0/24"},
	}, APIServers: []netip.Addr{netip.MustParseAddr("10.96.0.1"), netip.MustParseAddr("198.51.100.7")}})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"169.254.169.254":        "link-local", // listed or not
		"[64:ff9b::a9fe:a9fe]":   "link-local",
		"[::ffff:169.254.1.1]":   "link-local",
		"127.0.0.1:1":            "the Pod itself",
		"localhost:1":            "the Pod itself", // a name does not do
		"192.168.7.7":            "registries.internal",
		"172.16.0.1:8500":        "registries.internal",
		"[fd12:3456::1]:8500":    "registries.internal",
		"[fd00:ec2::254]:80":     "metadata",
		"100.100.100.200:80":     "metadata",
		"[::ffff:192.168.7.7]:1": "registries.internal",
		"203.0.113.9":            "registries.internal", // Pods with public addresses
		"10.96.0.1":              "the API server",      // its Service, in a listed network
		"198.51.100.7:6443":      "the API server",      // its endpoint
	} {
		if _, err := resolver.Digest(t.Context(), host+"/a:v1", nil); !errors.Is(err, imageref.ErrUnreachable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", host, err, want)
		}
	}
}

// TestS4ProxyOfTheEnvironment: a proxy would resolve and connect where nobody looks.
func TestS4ProxyOfTheEnvironment(t *testing.T) {
	internal, requests := newInternal(t)
	t.Setenv("HTTPS_PROXY", internal)
	t.Setenv("HTTP_PROXY", internal)
	if _, err := newResolver(t).Digest(t.Context(), "192.168.7.7/a:v1", nil); !strings.Contains(fmt.Sprint(err), "registries.internal") {
		t.Errorf("Digest = %v", err)
	}
	if requests.Load() != 0 {
		t.Error("the proxy was asked")
	}
}

// TestS4BlobsElsewhere: registries keep their blobs at another host, and redirect there.
func TestS4BlobsElsewhere(t *testing.T) {
	fake := newRegistry(t, "")
	push(t, fake.host+"/notes:v1", newImage(t, "/notes"))
	storage := newHostile(t, func(w http.ResponseWriter, r *http.Request) {
		r.URL.Host, r.URL.Scheme = fake.host, "http"
		http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
	})
	resolver := newResolver(t, fake.host, storage)
	if _, err := resolver.Resolve(t.Context(), storage+"/notes:v1", nil); err != nil {
		t.Error(err)
	}
}

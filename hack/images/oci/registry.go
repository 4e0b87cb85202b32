package oci

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Registry is an OCI registry in this process, over plain HTTP. Manifests and
// tags live as long as it does.
type Registry struct {
	server http.Server
	listen net.Listener
	done   chan error
}

// RegistryOptions may be left zero.
type RegistryOptions struct {
	Dir                string // where blobs lie; empty: in memory
	Username, Password string // HTTP basic authentication; empty: open to all
	Log                io.Writer
}

// Serve starts a registry at the TCP address HOST:PORT; port 0 takes a free one.
func Serve(address string, o RegistryOptions) (*Registry, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	options := []registry.Option{registry.Logger(log.New(o.Log, "", log.LstdFlags))}
	if o.Dir != "" {
		options = append(options, registry.WithBlobHandler(registry.NewDiskBlobHandler(o.Dir)))
	}
	handler := registry.New(options...)
	if o.Username != "" {
		handler = o.authenticate(handler)
	}
	listen, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for the registry: %w", err)
	}
	r := &Registry{listen: listen, done: make(chan error, 1)}
	r.server = http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { r.done <- r.server.Serve(listen) }()
	return r, nil
}

// authenticate asks for the credentials by the scheme Basic (RFC 7617).
func (o RegistryOptions) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if subtle.ConstantTimeCompare([]byte(user+"\x00"+password), []byte(o.Username+"\x00"+o.Password)) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Address returns where the registry listens, HOST:PORT.
func (r *Registry) Address() string { return r.listen.Addr().String() }

// Wait returns when the registry has ended; nil after Close.
func (r *Registry) Wait() error {
	if err := <-r.done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve registry: %w", err)
	}
	return nil
}

// Close ends the registry and its connections.
func (r *Registry) Close() error { return r.server.Close() }

// Push uploads what the registry of ref lacks, moves the tag of ref to the
// image and returns the reference by digest. ref is REGISTRY/REPOSITORY:TAG;
// a registry at a private address is spoken to in plain HTTP. A nil auth uses
// the credentials of the docker configuration, if any.
func Push(ctx context.Context, ref string, img v1.Image, auth authn.Authenticator) (string, error) {
	tag, err := name.NewTag(ref)
	if err != nil {
		return "", fmt.Errorf("parse reference: %w", err)
	}
	credentials := remote.WithAuthFromKeychain(authn.DefaultKeychain)
	if auth != nil {
		credentials = remote.WithAuth(auth)
	}
	if err := remote.Write(tag, img, remote.WithContext(ctx), credentials); err != nil {
		return "", fmt.Errorf("push %s: %w", ref, err)
	}
	digest, err := img.Digest()
	if err != nil {
		return "", fmt.Errorf("digest image: %w", err)
	}
	return tag.Context().Digest(digest.String()).String(), nil
}

// Pull returns an image, to tag it elsewhere or to change it.
func Pull(ctx context.Context, ref string, auth authn.Authenticator) (v1.Image, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, fmt.Errorf("parse reference: %w", err)
	}
	credentials := remote.WithAuthFromKeychain(authn.DefaultKeychain)
	if auth != nil {
		credentials = remote.WithAuth(auth)
	}
	img, err := remote.Image(parsed, remote.WithContext(ctx), credentials)
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", ref, err)
	}
	return img, nil
}

package oci

import (
	"context"
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

// Registry is an OCI registry in this process, over plain HTTP. It keeps manifests and tags in
// memory.
type Registry struct {
	server http.Server
	listen net.Listener
	done   chan error
}

// RegistryOptions are optional.
type RegistryOptions struct {
	Dir string    // of the blobs; in memory if empty
	Log io.Writer // none if nil
}

// Serve starts a registry at the TCP address HOST:PORT. Port 0 stands for a free one.
func Serve(address string, o RegistryOptions) (*Registry, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	options := []registry.Option{registry.Logger(log.New(o.Log, "", log.LstdFlags))}
	if o.Dir != "" {
		options = append(options, registry.WithBlobHandler(registry.NewDiskBlobHandler(o.Dir)))
	}
	listen, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for the registry: %w", err)
	}
	r := &Registry{listen: listen, done: make(chan error, 1)}
	r.server = http.Server{Handler: registry.New(options...), ReadHeaderTimeout: 10 * time.Second}
	go func() { r.done <- r.server.Serve(listen) }()
	return r, nil
}

// Address returns the registry's HOST:PORT.
func (r *Registry) Address() string { return r.listen.Addr().String() }

// Wait returns when the registry has ended: nil after Close.
func (r *Registry) Wait() error {
	if err := <-r.done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve registry: %w", err)
	}
	return nil
}

// Close ends the registry and its connections.
func (r *Registry) Close() error { return r.server.Close() }

// Push uploads what the registry lacks, moves the tag to the image and returns the reference
// by digest. ref is REGISTRY/REPOSITORY:TAG; a registry at a private address is used over
// plain HTTP. Credentials come from the docker configuration, if any.
func Push(ctx context.Context, ref string, img v1.Image) (string, error) {
	tag, err := name.NewTag(ref)
	if err != nil {
		return "", fmt.Errorf("parse reference: %w", err)
	}
	if err := remote.Write(tag, img, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", fmt.Errorf("push %s: %w", ref, err)
	}
	digest, err := img.Digest()
	if err != nil {
		return "", fmt.Errorf("digest image: %w", err)
	}
	return tag.Context().Digest(digest.String()).String(), nil
}

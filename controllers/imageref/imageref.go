// Package imageref asks registries: it resolves an image to a digest and reads
// the entrypoint of its config. It is the only package that talks to one.
package imageref

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/lru"
)

// The errors of Resolve, by what can be done about them.
var (
	// ErrInvalid: the reference is none.
	ErrInvalid = errors.New("image reference is invalid")
	// ErrNotFound: the registry has no such image, or none for the platform.
	ErrNotFound = errors.New("image not found")
	// ErrUnauthorized: the registry wants other credentials.
	ErrUnauthorized = errors.New("registry refused access")
	// ErrUnreachable: the registry gave no usable answer; it may later.
	ErrUnreachable = errors.New("registry unreachable")
)

// Image is what a registry knows of an image.
type Image struct {
	// Reference names the image by digest.
	Reference string
	// Digest is what the reference pointed to: an index or a manifest.
	Digest string
	// Known are all the digests by which a kubelet may report the image: those
	// of the index, of the platform's manifest, and of its config.
	Known []string
	// Entrypoint and Cmd are those of the image config.
	Entrypoint, Cmd []string
	// User is the one of the image config; empty for root.
	User string
	// Platform of the config, such as "linux/amd64".
	Platform string
}

// Resolver resolves images. It is safe for concurrent use.
type Resolver struct {
	platform  v1.Platform
	timeout   time.Duration
	transport http.RoundTripper
	images    *lru.Cache // of Image by reference with digest
}

// cached is how many images are remembered. Each takes well below 10 KiB.
const cached = 256

// New makes a resolver. platform is like "linux/amd64"; timeout bounds one Resolve.
func New(platform string, timeout time.Duration) (*Resolver, error) {
	parsed, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, fmt.Errorf("parse platform: %w", err)
	}
	return &Resolver{
		platform: *parsed, timeout: timeout,
		transport: limited{remote.DefaultTransport}, images: lru.New(cached),
	}, nil
}

// Resolve asks the image's registry, with the credentials of the pull secrets
// or as nobody: never with the manager's own. The tag is looked up each time,
// which also proves access; what is behind a digest is remembered.
func (r *Resolver) Resolve(ctx context.Context, image string, pullSecrets []corev1.Secret) (Image, error) {
	reference, err := name.ParseReference(image)
	if err != nil {
		return Image{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	credentials, err := newKeychain(pullSecrets)
	if err != nil {
		return Image{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	options := []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(credentials),
		remote.WithPlatform(r.platform), remote.WithTransport(r.transport),
		// The reconciler does the retries, where they can be seen.
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}),
	}
	head, err := remote.Head(reference, options...)
	if err != nil {
		return Image{}, classify(reference, err)
	}
	resolved := reference.Context().Digest(head.Digest.String())
	if image, ok := r.images.Get(resolved.Name()); ok {
		return image.(Image), nil
	}
	found, err := r.read(resolved, options)
	if err != nil {
		return Image{}, classify(reference, err)
	}
	r.images.Add(resolved.Name(), found)
	return found, nil
}

// read gets the manifest and the config behind a digest.
func (r *Resolver) read(resolved name.Digest, options []remote.Option) (Image, error) {
	image, err := remote.Image(resolved, options...)
	if err != nil {
		return Image{}, fmt.Errorf("read manifest: %w", err)
	}
	manifest, err := image.Digest()
	if err != nil {
		return Image{}, fmt.Errorf("read manifest: %w", err)
	}
	configDigest, err := image.ConfigName()
	if err != nil {
		return Image{}, fmt.Errorf("read manifest: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return Image{}, fmt.Errorf("read config: %w", err)
	}
	known := []string{resolved.DigestStr(), manifest.String(), configDigest.String()}
	return Image{
		Reference: resolved.Name(), Digest: resolved.DigestStr(), Known: slices.Compact(known),
		Entrypoint: config.Config.Entrypoint, Cmd: config.Config.Cmd,
		User: config.Config.User, Platform: config.OS + "/" + config.Architecture,
	}, nil
}

// classify turns an error of a registry into one of this package's.
func classify(reference name.Reference, err error) error {
	var answer *transport.Error
	if errors.As(err, &answer) {
		switch answer.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return fmt.Errorf("%w: %s answered %d for %s", ErrUnauthorized, reference.Context().RegistryStr(), answer.StatusCode, reference)
		case http.StatusNotFound:
			return fmt.Errorf("%w: %s has no %s", ErrNotFound, reference.Context().RegistryStr(), reference)
		}
		return fmt.Errorf("%w: %s answered %d for %s", ErrUnreachable, reference.Context().RegistryStr(), answer.StatusCode, reference)
	}
	// go-containerregistry has no type for an index without the platform.
	if strings.Contains(err.Error(), "no child with platform") {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

var _ authn.Keychain = keychain{}

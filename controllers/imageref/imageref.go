// Package imageref resolves an image to a digest and reads the entrypoint of its config. It is
// the only package that talks to registries.
package imageref

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/netguard"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// Image describes an image in a registry.
type Image struct {
	// Reference names Manifest by its digest, so it is unambiguous.
	Reference string
	// Digest is the digest of the index or manifest that the image names.
	Digest string
	// Manifest is the digest of the platform's manifest, ID that of its config.
	Manifest, ID string
	// Ambiguous says why container runtimes could run a manifest of the index other than
	// Manifest; empty if none can.
	Ambiguous string
	// Entrypoint and Cmd of the image config.
	Entrypoint, Cmd []string
	// Env ("NAME=value") and WorkingDir of the image config.
	Env        []string
	WorkingDir string
	// User of the image config; empty for root.
	User string
	// Platform is the image's, such as "linux/amd64"; empty if unknown.
	Platform string
	// Size is the sum of config and layers in bytes, as declared in the manifest: usually
	// compressed.
	Size int64
	// Several means that Digest is an index with other images besides Manifest.
	Several bool
}

// maxCause bounds a logged upstream error, in bytes.
const maxCause = 512

// Resolver resolves images. It is safe for concurrent use.
type Resolver struct {
	platform v1.Platform
	timeout  time.Duration
	rules    rules
	connect  func(*origin) http.RoundTripper
	images   *lru.Cache // of Image by reference with digest
	hosts    hosts
}

// The number of cached images, and the bytes of text of one: enough for thousands of audits,
// and 32 MiB if every image used it up. Most have less than 1 KiB. Larger ones are not cached.
const (
	cached    = 8192
	maxCached = 4 << 10
)

// Config configures a Resolver.
type Config struct {
	// Platform is preferred for multi-platform images, such as "linux/amd64".
	Platform string
	// Timeout bounds one Resolve.
	Timeout time.Duration
	// Registries lists registries that may be at private addresses or without TLS.
	Registries Registries
	// APIServers are addresses that are never connected to.
	APIServers []netip.Addr
}

// New makes a resolver.
func New(config Config) (*Resolver, error) {
	platform, err := v1.ParsePlatform(config.Platform)
	if err != nil {
		return nil, fmt.Errorf("parse platform: %w", err)
	}
	rules, err := config.Registries.parse()
	if err != nil {
		return nil, err
	}
	return &Resolver{
		platform: *platform, timeout: config.Timeout, rules: rules,
		connect: func(asked *origin) http.RoundTripper {
			return newTransport(asked, netguard.Guard{APIServers: config.APIServers})
		},
		images: lru.New(cached),
	}, nil
}

// Resolve asks the image's registry with the given pull secrets or anonymously, never with the
// manager's own credentials. The tag is looked up each time, which also proves access; what a
// digest names is cached. An unreachable registry is not asked again for some seconds, and
// never by many at once.
func (r *Resolver) Resolve(ctx context.Context, image string, pullSecrets []corev1.Secret) (Image, error) {
	var found Image
	err := r.question(ctx, image, pullSecrets, func(reference name.Reference, options []remote.Option) error {
		resolved, err := head(reference, options)
		if err != nil {
			return err
		}
		found, err = r.ask(reference, resolved, options)
		return err
	})
	return found, err
}

// Digest returns only the digest that an image names. It makes one request, which registries do
// not count as a pull.
func (r *Resolver) Digest(ctx context.Context, image string, pullSecrets []corev1.Secret) (string, error) {
	var digest string
	err := r.question(ctx, image, pullSecrets, func(reference name.Reference, options []remote.Option) error {
		resolved, err := head(reference, options)
		if err == nil {
			digest = resolved.DigestStr()
		}
		return err
	})
	return digest, err
}

// question asks a registry, within the limits.
func (r *Resolver) question(ctx context.Context, image string, pullSecrets []corev1.Secret, ask func(name.Reference, []remote.Option) error) error {
	if strings.HasPrefix(image, "sha256:") && !strings.Contains(image, "/") { // else a tag of docker.io/library/sha256
		return fmt.Errorf("%w: the id of an image is in no registry: give NAME@sha256:DIGEST", ErrNotFound)
	}
	reference, err := name.ParseReference(image)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	registry := reference.Context().RegistryStr()
	if listed(r.rules.plain, hostPort(&url.URL{Scheme: "http", Host: registry})) {
		if reference, err = name.ParseReference(image, name.Insecure); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	credentials, err := newKeychain(pullSecrets)
	if err != nil {
		return err
	}
	if err := r.hosts.enter(registry, time.Now()); err != nil {
		return err
	}
	silent := false
	// Even after a panic over a hostile answer: a place that is not given back is lost to all
	// audits.
	defer func() { r.hosts.leave(registry, time.Now(), silent) }()
	asking, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	asked := &origin{rules: r.rules, registry: registry}
	connections := r.connect(asked)
	defer (&http.Client{Transport: connections}).CloseIdleConnections()
	err = ask(reference, []remote.Option{
		remote.WithContext(asking), remote.WithAuthFromKeychain(credentials), remote.WithTransport(guarded{connections, asked}),
		// The reconciler retries, visibly.
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}),
	})
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%w: %w", ErrUnreachable, ctx.Err()) // we gave up, the registry did not fail
	}
	silent = isSilence(err)
	if failed, ok := errors.AsType[*failure](err); ok {
		log.FromContext(ctx).V(1).Info("Registry gave no answer that could be used", "registry", registry, "cause", excerpt.Line(failed.cause.Error(), maxCause))
	}
	return err
}

// head looks up the tag.
func head(reference name.Reference, options []remote.Option) (name.Digest, error) {
	found, err := remote.Head(reference, options...)
	if err != nil {
		return name.Digest{}, classify(reference, err)
	}
	return reference.Context().Digest(found.Digest.String()), nil
}

// ask reads what a digest names, unless cached.
func (r *Resolver) ask(reference name.Reference, resolved name.Digest, options []remote.Option) (Image, error) {
	if image, ok := r.images.Get(resolved.Name()); ok {
		return image.(Image), nil
	}
	found, err := r.read(resolved, options)
	if err != nil {
		return Image{}, classify(reference, err)
	}
	if found.size() <= maxCached {
		r.images.Add(resolved.Name(), found)
	}
	return found, nil
}

// read fetches the manifest and the config of a digest.
func (r *Resolver) read(resolved name.Digest, options []remote.Option) (Image, error) {
	found, choice, err := r.choose(resolved, options)
	if err != nil {
		return Image{}, err
	}
	image, err := found.Image()
	if err != nil {
		return Image{}, fmt.Errorf("read manifest: %w", err)
	}
	id, err := image.ConfigName()
	if err != nil {
		return Image{}, fmt.Errorf("read manifest: %w", err)
	}
	config, err := readConfig(image)
	if err != nil {
		return Image{}, fmt.Errorf("read config: %w", err)
	}
	size, err := sizeOf(image)
	if err != nil {
		return Image{}, fmt.Errorf("read manifest: %w", err)
	}
	return Image{
		Reference: resolved.Context().Digest(found.Digest.String()).Name(), Digest: resolved.DigestStr(),
		Manifest: found.Digest.String(), ID: id.String(), Size: size, Ambiguous: choice.Ambiguous,
		Entrypoint: config.Config.Entrypoint, Cmd: config.Config.Cmd, User: config.Config.User,
		Env: config.Config.Env, WorkingDir: config.Config.WorkingDir,
		Platform: cmp.Or(choice.Platform, written(config)), Several: choice.Several,
	}, nil
}

// sizeOf sums the declared sizes. Runtimes verify them when they fetch the blobs; negative
// sizes and overflows count as larger than any limit.
func sizeOf(image v1.Image) (int64, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, blob := range append([]v1.Descriptor{manifest.Config}, manifest.Layers...) {
		if blob.Size < 0 || blob.Size > math.MaxInt64-total {
			return math.MaxInt64, nil
		}
		total += blob.Size
	}
	return total, nil
}

// size estimates the memory of an image, in bytes.
func (i Image) size() int {
	n := len(i.Reference) + len(i.Digest) + len(i.Manifest) + len(i.ID) + len(i.Ambiguous) + len(i.User) + len(i.Platform)
	for _, text := range slices.Concat(i.Entrypoint, i.Cmd, i.Env, []string{i.WorkingDir}) {
		n += len(text) + 16 // the string header
	}
	return n
}

var _ authn.Keychain = keychain{}

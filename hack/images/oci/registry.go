package oci

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Registry returns the handler of an OCI registry, which keeps manifests and tags in memory, and
// blobs in a folder: also in memory if dir is empty.
func Registry(dir string, requests io.Writer) http.Handler {
	options := []registry.Option{registry.Logger(log.New(requests, "", log.LstdFlags))}
	if dir != "" {
		options = append(options, registry.WithBlobHandler(registry.NewDiskBlobHandler(dir)))
	}
	return registry.New(options...)
}

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

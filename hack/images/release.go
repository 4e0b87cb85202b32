package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// released has the images of a release with their titles.
var released = []struct {
	recipe
	title string
}{
	{recipe{name: "manager", build: manager}, "The operator of mcpaudit"},
	{recipe{name: "runner", build: runner}, "The runner that audits an MCP server in its Pod"},
}

// release writes the images of manager and runner for several architectures as OCI archives, and
// prints their references by digest. Third-party files are Debian's, by debian.lock, so the
// archives are reproducible.
func release(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("images release", pflag.ContinueOnError)
	dir := flags.String("dir", "dist", "`folder` to write to")
	platforms := flags.StringSlice("platforms", []string{"linux/amd64", "linux/arm64"}, "`platforms` of the images")
	prefix := flags.String("name", "ghcr.io/mcpaudit", "`prefix` of the images' names")
	programs := flags.String("programs", "", "`folder` for the programs of the images, NAME-linux-ARCHITECTURE (default: none is kept)")
	tag := flags.String("tag", "", "`tag` of the images (default: the version)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	shop, err := openWorkshop(ctx)
	if err != nil {
		return err
	}
	if shop.created, err = sourceDate(ctx, shop.root); err != nil {
		return err
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	shop.programs = *programs
	for _, r := range released {
		shop.labels = shop.describe(r.title)
		index, err := shop.multi(ctx, r.recipe, *platforms)
		if err != nil {
			return fmt.Errorf("build %s: %w", r.name, err)
		}
		ref := *prefix + "/" + r.name + ":" + cmp.Or(*tag, shop.version)
		if err := oci.WriteArchive(filepath.Join(*dir, r.name+".oci.tar"), ref, index); err != nil {
			return err
		}
		digest, err := index.Digest()
		if err != nil {
			return fmt.Errorf("digest %s: %w", r.name, err)
		}
		fmt.Printf("%s@%s\n", ref, digest)
	}
	return nil
}

func (w *workshop) multi(ctx context.Context, r recipe, platforms []string) (v1.ImageIndex, error) {
	var images []v1.Image
	for _, platform := range platforms {
		arch, ok := strings.CutPrefix(platform, "linux/")
		if !ok || triplets[arch] == "" {
			return nil, fmt.Errorf("platform %q: want linux/amd64 or linux/arm64", platform)
		}
		packages, err := w.debian(ctx, arch)
		if err != nil {
			return nil, err
		}
		w.arch, w.origin = arch, packages
		image, err := r.build(ctx, w)
		if err != nil {
			return nil, err
		}
		images = append(images, image)
	}
	return oci.Index(w.labels, images...)
}

// describe returns the OCI annotations of an image.
func (w *workshop) describe(title string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    title,
		"org.opencontainers.image.version":  w.version,
		"org.opencontainers.image.revision": w.commit,
		"org.opencontainers.image.created":  w.created.UTC().Format(time.RFC3339),
		"org.opencontainers.image.source":   "https://github.com/mcpaudit/mcpaudit",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

// sourceDate returns SOURCE_DATE_EPOCH (reproducible-builds.org), or the time of the commit.
func sourceDate(ctx context.Context, root string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = command.Output(ctx, root, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("find the time of the commit: %w; without the history, set SOURCE_DATE_EPOCH", err)
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read SOURCE_DATE_EPOCH: %w; want a number of seconds", err)
	}
	return time.Unix(seconds, 0), nil
}

// push uploads archives of a release to a registry.
func push(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("images push", pflag.ContinueOnError)
	to := flags.String("to", os.Getenv("IMAGE_REGISTRY"), "`registry`, with a path if it wants one, to push to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *to == "" || flags.NArg() == 0 {
		return errors.New("usage: images push --to REGISTRY ARCHIVE [ARCHIVE ...]")
	}
	for _, file := range flags.Args() {
		ref, err := oci.PushArchive(ctx, file, strings.TrimSuffix(*to, "/"))
		if err != nil {
			return err
		}
		fmt.Println(ref)
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// localRegistry is the registry of hack/cluster.
const localRegistry = "10.77.0.1:5000"

// workshop builds images.
type workshop struct {
	root    string // of the repository
	cache   string // layers, Go binaries, npm and pip installations
	version string // of the manager and the runner
	commit  string
	arch    string // that programs are compiled for, and images are of
	origin  origin
	labels  map[string]string // of the images (OCI image spec, annotations)
	created time.Time
	// programs is the output directory for a release's programs; empty for the cache.
	programs string
}

// build builds the named images, or all, pushes them, and prints the pushed
// references by digest.
func build(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("images build", pflag.ContinueOnError)
	registry := flags.String("push", cmp.Or(os.Getenv("IMAGE_REGISTRY"), localRegistry), "`registry`, with a path if it wants one, to push to")
	tag := flags.String("tag", cmp.Or(os.Getenv("IMAGE_TAG"), "dev"), "`tag` of the images that have none of their own")
	flags.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: images build [flags] [NAME...]\n%s\nimages: %s\n", flags.FlagUsages(), strings.Join(names(), " "))
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	selected, err := choose(flags.Args())
	if err != nil {
		return err
	}
	shop, err := openWorkshop(ctx)
	if err != nil {
		return err
	}
	// A concurrent build of another checkout uses the same program names.
	unlock, err := command.Lock(shop.cache, "bin")
	if err != nil {
		return err
	}
	defer unlock()
	for _, r := range selected {
		began := time.Now()
		img, err := r.build(ctx, shop)
		if err != nil {
			return fmt.Errorf("build %s: %w", r.name, err)
		}
		ref := fmt.Sprintf("%s/mcpaudit/%s:%s", strings.TrimSuffix(*registry, "/"), r.name, cmp.Or(r.tag, *tag))
		pushed, err := oci.Push(ctx, ref, img)
		if err != nil {
			return err
		}
		fmt.Println(pushed)
		fmt.Fprintf(os.Stderr, "images: %s (%.1f s)\n", ref, time.Since(began).Seconds())
	}
	return shop.prune(time.Now().Add(-7 * 24 * time.Hour))
}

// names lists the images in build order, without duplicates.
func names() []string {
	var all []string
	for _, r := range recipes {
		if !slices.Contains(all, r.name) {
			all = append(all, r.name)
		}
	}
	return all
}

// choose returns the recipes of the named images; all when none is named.
func choose(wanted []string) ([]recipe, error) {
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("no image %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(recipes), func(r recipe) bool {
		return len(wanted) > 0 && !slices.Contains(wanted, r.name)
	}), nil
}

func openWorkshop(ctx context.Context) (*workshop, error) {
	root, err := command.SourceTree(ctx)
	if err != nil {
		return nil, err
	}
	cache, err := command.Cache("images")
	if err != nil {
		return nil, err
	}
	version := os.Getenv("VERSION")
	if version == "" { // a copy without history is a development version
		if version, err = command.Output(ctx, root, "git", "describe", "--tags", "--always", "--dirty"); err != nil {
			version = "dev"
		}
	}
	commit := os.Getenv("COMMIT")
	if commit == "" {
		if commit, err = command.Output(ctx, root, "git", "rev-parse", "HEAD"); err != nil {
			commit = ""
		}
	}
	return &workshop{
		root: root, cache: cache, version: version, commit: commit,
		arch: runtime.GOARCH, origin: machine{}, created: time.Unix(0, 0),
	}, nil
}

// layer packs a tree, or reuses the layer of an earlier run.
func (w *workshop) layer(t *oci.Tree) (v1.Layer, error) {
	return t.Layer(filepath.Join(w.cache, "layers"))
}

// prune removes layers last used before a time: every change of a program leaves one behind.
func (w *workshop) prune(before time.Time) error {
	layers, err := filepath.Glob(filepath.Join(w.cache, "layers", "*.tar.gz"))
	if err != nil {
		return fmt.Errorf("list layers: %w", err)
	}
	for _, file := range layers {
		info, err := os.Stat(file)
		if err != nil || !info.ModTime().Before(before) {
			continue // in use, or removed by another run
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("prune layers: %w", err)
		}
	}
	return nil
}

// image packs the trees, lowest first, into an image.
func (w *workshop) image(config oci.Config, trees ...*oci.Tree) (v1.Image, error) {
	var layers []v1.Layer
	for _, t := range trees {
		l, err := w.layer(t)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	config.Architecture, config.Labels, config.Created = w.arch, w.labels, w.created
	return oci.Image(config, layers...)
}

// program builds a package of this module as a static binary and returns its file.
func (w *workshop) program(ctx context.Context, pkg string) (string, error) {
	file := filepath.Join(w.cache, "bin", strings.ReplaceAll(pkg, "/", "-"))
	if w.arch != runtime.GOARCH {
		file += "-" + w.arch
	}
	if w.programs != "" {
		file = filepath.Join(w.programs, filepath.Base(pkg)+"-linux-"+w.arch)
	}
	flags := "-s -w"
	if strings.HasPrefix(pkg, "cmd/") { // test servers stay the same from commit to commit
		flags += " -X github.com/mcpaudit/mcpaudit/runner/build.version=" + w.version + " -X github.com/mcpaudit/mcpaudit/runner/build.commit=" + w.commit
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", file, "./"+pkg)
	cmd.Dir, cmd.Env = w.root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+w.arch)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("compile %s: %w", pkg, err)
	}
	return file, nil
}

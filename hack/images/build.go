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
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
)

// localRegistry is that of hack/cluster.
const localRegistry = "10.77.0.1:5000"

// workshop is where images are built.
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
	unlock, err := shop.lock("bin")
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
	mod, err := output(ctx, "", "go", "env", "GOMOD")
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	if !filepath.IsAbs(mod) || mod == os.DevNull {
		return nil, errors.New("find the repository: run this inside it")
	}
	root := filepath.Dir(mod)
	cache := os.Getenv("MCPAUDIT_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find the cache: %w", err)
		}
		cache = filepath.Join(user, "mcpaudit")
	}
	version := os.Getenv("VERSION")
	if version == "" { // a copy without history is a development version
		if version, err = output(ctx, root, "git", "describe", "--tags", "--always", "--dirty"); err != nil {
			version = "dev"
		}
	}
	commit := os.Getenv("COMMIT")
	if commit == "" {
		if commit, err = output(ctx, root, "git", "rev-parse", "HEAD"); err != nil {
			commit = ""
		}
	}
	return &workshop{
		root: root, cache: filepath.Join(cache, "images"), version: version, commit: commit,
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

// installed returns the folder cache/NAME-KEY. If it is missing, install fills a folder that is
// then renamed, so an existing one is complete. Of several concurrent processes, one installs
// and the others wait.
func (w *workshop) installed(name, key string, install func(dir string) error) (string, error) {
	dir := filepath.Join(w.cache, name+"-"+key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	unlock, err := w.lock(name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // another process has installed it meanwhile
	}
	tmp, err := os.MkdirTemp(w.cache, ".install-")
	if err != nil {
		return "", fmt.Errorf("make a scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := install(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return "", fmt.Errorf("keep the installation: %w", err)
	}
	return dir, nil
}

// lock locks the part NAME of the cache until unlock. The kernel releases the lock when the
// process ends.
func (w *workshop) lock(name string) (unlock func(), err error) {
	if err := os.MkdirAll(w.cache, 0o755); err != nil {
		return nil, fmt.Errorf("create the cache: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(w.cache, "."+name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	return func() { _ = file.Close() }, nil
}

// output runs a command and returns its trimmed output. Errors include stderr.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("run %s: %w: %s", filepath.Base(name), err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("run %s: %w", filepath.Base(name), err)
	}
	return strings.TrimSpace(string(out)), nil
}

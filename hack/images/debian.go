package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// debianLock lists a release's Debian packages, one per line: ARCHITECTURE NAME VERSION SHA256.
// `images lock` writes it.
//
//go:embed debian.lock
var debianLock string

// errStale means that the archive no longer has a locked version: it keeps only the newest.
// hack/dist-test.sh looks for this text.
var errStale = errors.New("debian.lock is stale")

// debianPackages are the Debian packages of the product's images. A missing library fails the
// build.
var debianPackages = []string{"ca-certificates", "libc6", "liblzma5", "libunwind8", "strace"}

// triplets name the folders of libraries (Debian's multiarch tuples).
var triplets = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}

// debianPackage is one line of the lock.
type debianPackage struct{ arch, name, version, sha256 string }

// qualified returns the package as apt names it; certificates are architecture-independent.
func (p debianPackage) qualified() string {
	if p.name == "ca-certificates" {
		return p.name
	}
	return p.name + ":" + p.arch
}

func (p debianPackage) String() string {
	return fmt.Sprintf("%s %s %s %s", p.arch, p.name, p.version, p.sha256)
}

// ownLock returns the tree's lock, or the file $DEBIAN_LOCK.
func ownLock() (string, error) {
	file := os.Getenv("DEBIAN_LOCK")
	if file == "" {
		return debianLock, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read DEBIAN_LOCK: %w", err)
	}
	return string(content), nil
}

func readLock(lock string) ([]debianPackage, error) {
	var all []debianPackage
	for lines := bufio.NewScanner(strings.NewReader(lock)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) != 4 || len(fields[3]) != 2*sha256.Size {
			return nil, fmt.Errorf("read debian.lock: %q is not ARCHITECTURE NAME VERSION SHA256", lines.Text())
		}
		all = append(all, debianPackage{fields[0], fields[1], fields[2], fields[3]})
	}
	return all, nil
}

// debian provides a release's files from the locked packages, for any architecture, without
// running any of them.
type debian struct {
	root string // the unpacked packages
	arch string
}

func (w *workshop) debian(ctx context.Context, arch string) (debian, error) {
	text, err := ownLock()
	if err != nil {
		return debian{}, err
	}
	all, err := readLock(text)
	if err != nil {
		return debian{}, err
	}
	ours := slices.DeleteFunc(all, func(p debianPackage) bool { return p.arch != arch })
	if len(ours) == 0 || triplets[arch] == "" {
		return debian{}, fmt.Errorf("no packages for %s in debian.lock", arch)
	}
	key := sha256.Sum256(fmt.Append(nil, ours))
	dir, err := command.Installed(w.cache, "debian-"+arch, hex.EncodeToString(key[:6]), func(dir string) error {
		apt, err := newApt(ctx)
		if err != nil {
			return err
		}
		defer apt.close()
		for _, p := range ours {
			file, err := apt.download(ctx, p)
			if err != nil {
				return err
			}
			if _, err := command.Output(ctx, "", "dpkg-deb", "-x", file, dir); err != nil {
				return err
			}
		}
		return nil
	})
	return debian{root: dir, arch: arch}, err
}

func (d debian) program(_ context.Context, t *oci.Tree, file string) error {
	libraries, err := oci.LibrariesIn(d.root, triplets[d.arch], file)
	if err != nil {
		return err
	}
	t.Copy(file, filepath.Join(d.root, file))
	for name, source := range libraries {
		t.Copy(name, source)
	}
	d.copyrights(t)
	return nil
}

// authorities joins the certificates like update-ca-certificates(8). It does not use the build
// machine's bundle, which may trust others.
func (d debian) authorities(t *oci.Tree) error {
	files, err := filepath.Glob(filepath.Join(d.root, "usr/share/ca-certificates/mozilla/*.crt"))
	if err != nil || len(files) == 0 {
		return errors.Join(errors.New("no certificates in the package ca-certificates"), err)
	}
	slices.Sort(files)
	var bundle bytes.Buffer
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		bundle.Write(append(bytes.TrimSpace(content), '\n'))
	}
	t.Write(authorities, 0o644, bundle.String())
	return nil
}

// copyrights adds the licences of programs and libraries.
func (d debian) copyrights(t *oci.Tree) {
	for _, name := range debianPackages {
		file := "/usr/share/doc/" + name + "/copyright"
		if exists(filepath.Join(d.root, file)) {
			t.Copy(file, filepath.Join(d.root, file))
		}
	}
}

// apt downloads packages of any architecture, verified by the archive's signature, with its own
// lists, leaving the machine's unchanged.
type apt struct{ dir string }

// newApt fetches the lists of the machine's Debian archive, or of the one in the file
// $DEBIAN_SOURCES (deb822, sources.list(5)).
func newApt(ctx context.Context) (*apt, error) {
	dir, err := os.MkdirTemp("", "images-apt-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for apt: %w", err)
	}
	a := &apt{dir}
	if err := a.configure(); err != nil {
		a.close()
		return nil, err
	}
	if _, err := a.run(ctx, "update", "-qq"); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *apt) configure() error {
	for _, dir := range []string{"lists/partial", "cache/archives/partial", "sources"} {
		if err := os.MkdirAll(filepath.Join(a.dir, dir), 0o755); err != nil {
			return err
		}
	}
	sources := cmp.Or(os.Getenv("DEBIAN_SOURCES"), "/etc/apt/sources.list.d/debian.sources")
	list := "/dev/null"
	if content, err := os.ReadFile(sources); err == nil {
		if err := os.WriteFile(filepath.Join(a.dir, "sources/debian.sources"), content, 0o644); err != nil {
			return err
		}
	} else if list = "/etc/apt/sources.list"; os.Getenv("DEBIAN_SOURCES") != "" || !exists(list) {
		return fmt.Errorf("find the archive of Debian 12: %w: name a file of deb822 sources in DEBIAN_SOURCES", err)
	}
	config := fmt.Sprintf(`APT::Architecture "amd64"; APT::Architectures {"amd64"; "arm64";};
Dir::State "%[1]s"; Dir::State::status "%[1]s/status"; Dir::Cache "%[1]s/cache";
Dir::Etc::sourcelist "%[2]s"; Dir::Etc::sourceparts "%[1]s/sources";
Acquire::Languages "none"; Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false"; APT::Sandbox::User "";
`, a.dir, list)
	return errors.Join(os.WriteFile(filepath.Join(a.dir, "status"), nil, 0o644), os.WriteFile(filepath.Join(a.dir, "apt.conf"), []byte(config), 0o644))
}

func (a *apt) close() { _ = os.RemoveAll(a.dir) }

func (a *apt) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Dir, cmd.Env = a.dir, append(os.Environ(), "APT_CONFIG="+filepath.Join(a.dir, "apt.conf"), "LC_ALL=C")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run apt-get %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}

// missing matches apt-get's message for a version in no list, not for a failed download.
var missing = regexp.MustCompile(`E: Version '[^']*' for '[^']*' was not found`)

func (a *apt) download(ctx context.Context, p debianPackage) (string, error) {
	if _, err := a.run(ctx, "download", "-qq", p.qualified()+"="+p.version); err != nil {
		if missing.MatchString(err.Error()) {
			return "", fmt.Errorf("%w: no %s %s for %s in the archive, which holds its newest versions only: go run ./hack/images lock takes those, DEBIAN_SOURCES=FILE names another archive",
				errStale, p.name, p.version, p.arch)
		}
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(a.dir, p.name+"_*.deb"))
	if err != nil || len(found) != 1 {
		return "", errors.Join(fmt.Errorf("apt-get download left %d files of %s", len(found), p.name), err)
	}
	content, err := os.ReadFile(found[0])
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != p.sha256 {
		return "", fmt.Errorf("%s %s (%s) has SHA-256 %x, debian.lock says %s", p.name, p.version, p.arch, sum, p.sha256)
	}
	return found[0], nil
}

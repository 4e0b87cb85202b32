package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// uri matches the output of apt-get download --print-uris: 'URL' FILE SIZE SHA256:SUM.
var uri = regexp.MustCompile(`^'[^']+' (\S+) \d+ SHA256:([0-9a-f]{64})$`)

// lock rewrites debian.lock, or the file $DEBIAN_LOCK, with the newest versions in the archive
// for all architectures.
func lock(ctx context.Context, args []string) error {
	if len(args) != 0 {
		return fmt.Errorf("lock takes no arguments, got %q", args)
	}
	shop, err := openWorkshop(ctx)
	if err != nil {
		return err
	}
	apt, err := newApt(ctx)
	if err != nil {
		return err
	}
	defer apt.close()
	text := "# What a release takes from Debian 12: ARCHITECTURE NAME VERSION SHA256.\n# Written by: go run ./hack/images lock\n"
	for _, arch := range slices.Sorted(maps.Keys(triplets)) {
		for _, name := range debianPackages {
			p, err := apt.newest(ctx, debianPackage{arch: arch, name: name})
			if err != nil {
				return err
			}
			text += p.String() + "\n"
		}
	}
	file := cmp.Or(os.Getenv("DEBIAN_LOCK"), filepath.Join(shop.root, "hack/images/debian.lock"))
	return os.WriteFile(file, []byte(text), 0o644)
}

func (a *apt) newest(ctx context.Context, p debianPackage) (debianPackage, error) {
	out, err := a.run(ctx, "download", "-qq", "--print-uris", p.qualified())
	if err != nil {
		return p, err
	}
	m := uri.FindStringSubmatch(strings.TrimSpace(out))
	if m == nil {
		return p, fmt.Errorf("read what apt-get says of %s: %q", p.name, out)
	}
	// NAME_VERSION_ARCHITECTURE.deb, percent-encoded where a version has an epoch
	file, err := url.PathUnescape(m[1])
	if err != nil {
		return p, err
	}
	parts := strings.Split(strings.TrimSuffix(file, ".deb"), "_")
	if len(parts) != 3 {
		return p, fmt.Errorf("read the version of %s: %q", p.name, file)
	}
	p.version, p.sha256 = parts[1], m[2]
	return p, nil
}

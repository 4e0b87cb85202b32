package rules

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/behavior"
	"github.com/mcpaudit/mcpaudit/runner/poison"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/squat"
	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

//go:embed *.go
var source embed.FS

// sources are the packages that judge: what a rule finds is decided there, and
// nowhere else.
var sources = map[string]fs.FS{
	"rules": source, "scope": scope.Source, "poison": poison.Source, "squat": squat.Source, "behavior": behavior.Source,
	"syscalls": syscalls.Source,
}

// Digest identifies the rules: "sha256:" and 64 hex digits over the source of all
// that judges, tests excepted. Two programs with the same digest find the same in
// the same; another digest may stand for no more than a comment that was reworded.
var Digest = sync.OnceValue(func() string {
	digest, err := sum(sources)
	if err != nil {
		panic(err) // embedded files can be read
	}
	return digest
})

// sum hashes the names and the lengths of the files with what is in them.
func sum(packages map[string]fs.FS) (string, error) {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		err := fs.WalkDir(packages[name], ".", func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(packages[name], file)
			if err == nil {
				_, err = fmt.Fprintf(hash, "%s/%s %d\n%s", name, file, len(text), text)
			}
			return err
		})
		if err != nil {
			return "", fmt.Errorf("hash package %s: %w", name, err)
		}
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}

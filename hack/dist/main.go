// Command dist does what hack/dist.sh cannot in shell: it packs a chart reproducibly, and
// writes a release's SBOM.
//
//	dist chart FROM.tgz TO.tgz
//	dist sbom DIST PROGRAMS DEBIAN.LOCK
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	made, err := sourceDate()
	if err != nil {
		return err
	}
	switch {
	case len(args) == 3 && args[0] == "chart":
		return repack(args[1], args[2], made)
	case len(args) == 4 && args[0] == "sbom":
		return writeSBOM(os.Stdout, release{dist: args[1], programs: args[2], lock: args[3], version: os.Getenv("VERSION"), made: made})
	}
	return errors.New("usage: dist chart FROM.tgz TO.tgz | dist sbom DIST PROGRAMS DEBIAN.LOCK")
}

// sourceDate returns SOURCE_DATE_EPOCH (reproducible-builds.org), set by hack/dist.sh.
func sourceDate() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

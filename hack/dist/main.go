// Command dist writes a release's SBOM.
//
//	dist DIST PROGRAMS DEBIAN.LOCK
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
	if len(args) != 3 {
		return errors.New("usage: dist DIST PROGRAMS DEBIAN.LOCK")
	}
	return writeSBOM(os.Stdout, release{dist: args[0], programs: args[1], lock: args[2], version: os.Getenv("VERSION"), made: made})
}

// sourceDate returns SOURCE_DATE_EPOCH (reproducible-builds.org), set by hack/dist.sh.
func sourceDate() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

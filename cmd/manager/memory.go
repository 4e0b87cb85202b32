package main

import (
	"runtime/debug"
	"strconv"
)

// limitMemory tells the garbage collector how much memory the container may have,
// in bytes: it works harder before the kernel ends the process. A tenth is left for
// what is not Go's own. Nothing is limited where the container is not.
func limitMemory(limit string) {
	if bytes, err := strconv.ParseInt(limit, 10, 64); err == nil && bytes > 0 {
		debug.SetMemoryLimit(bytes / 10 * 9)
	}
}

// Command server is an MCP server that turns against its client in the way that
// its argument names. It writes JSON-RPC by hand: no SDK would send such things.
//
// Nothing here is a danger to the machine by itself, but run it only under
// mcpaudit, which gives it namespaces of its own.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// modes are the ways to be hostile, and two that are not.
var modes = map[string]func(*server){
	"honest": honest,
	"quirky": quirky,

	"endless-list":    endlessList,
	"cursor-loop":     cursorLoop,
	"repeated-cursor": repeatedCursor,
	"duplicate-tools": duplicateTools,
	"nameless-tool":   namelessTool,
	"many-tools":      manyTools,
	"restless-list":   restlessList,

	"giant-schema":     giantSchema,
	"exponential-ref":  exponentialRef,
	"exponential-all":  exponentialAllOf,
	"recursive-schema": recursiveSchema,
	"deep-schema":      deepSchema,

	"giant-line":       giantLine,
	"invalid-json":     invalidJSON,
	"truncated-json":   truncatedJSON,
	"deep-json":        deepJSON,
	"pollution":        pollution,
	"blank-flood":      blankFlood,
	"stderr-flood":     stderrFlood,
	"result-and-error": resultAndError,
	"batch":            batch,
	"huge-errors":      hugeErrors,

	"duplicate-answer": duplicateAnswer,
	"early-answers":    earlyAnswers,
	"wrong-id":         wrongID,
	"string-id":        stringID,

	"mute":          mute,
	"mute-calls":    muteCalls,
	"slow-loris":    slowLoris,
	"deaf":          deaf,
	"close-stdout":  closeStdout,
	"exit-listed":   exitListed,
	"crash-third":   crashThird,
	"kill-group":    killGroup,
	"fork-bomb":     forkBomb,
	"flood-notices": floodNotices,
	"progress":      progressForever,
	"late-address":  lateAddress,

	"flood-requests":   floodRequests,
	"elicitation-loop": elicitationLoop,
	"input-loop":       inputLoop,
}

func main() {
	mode := ""
	if len(os.Args) == 2 {
		mode = os.Args[1]
	}
	switch {
	case modes[mode] != nil:
		s := newServer()
		modes[mode](s)
		s.serve()
	case httpModes[mode] != nil:
		listen(httpModes[mode])
	default:
		all := append(slices.Sorted(maps.Keys(modes)), slices.Sorted(maps.Keys(httpModes))...)
		fmt.Fprintln(os.Stderr, "usage: server", strings.Join(all, "|"))
		os.Exit(2)
	}
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// requests counts the manager's requests by "verb resource", such as "patch
// mcpserveraudits/status".
type requests map[string]int

// reading are the verbs that change nothing.
var reading = []string{"get", "list", "watch"}

// isOverhead reports whether requests are independent of audits: discovery by a starting client,
// and watches, which are renewed now and then.
func isOverhead(kind string) bool {
	verb, resource, _ := strings.Cut(kind, " ")
	return resource == "" || verb == "watch"
}

// writes and reads count the requests for audits.
func (r requests) writes() int { return r.sum(false) }
func (r requests) reads() int  { return r.sum(true) }

func (r requests) sum(read bool) int {
	n := 0
	for kind, count := range r {
		verb, _, _ := strings.Cut(kind, " ")
		if !isOverhead(kind) && slices.Contains(reading, verb) == read {
			n += count
		}
	}
	return n
}

// requestLog reads the API server's audit log incrementally.
type requestLog struct {
	path   string
	offset int64
}

// next counts the complete lines since the last call.
func (l *requestLog) next() (requests, error) {
	file, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	if _, err := file.Seek(l.offset, io.SeekStart); err != nil {
		return nil, err
	}
	counted, reader := requests{}, bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return counted, nil
		}
		if err != nil {
			return nil, err
		}
		l.offset += int64(len(line))
		var event struct {
			Verb      string
			ObjectRef struct{ Namespace, Resource, Subresource string }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("read audit log of the API server: %w", err)
		}
		if event.ObjectRef.Namespace == options.SystemNamespace {
			continue // the leader's lease and its events
		}
		kind := event.Verb + " " + event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			kind += "/" + event.ObjectRef.Subresource
		}
		counted[kind]++
	}
}

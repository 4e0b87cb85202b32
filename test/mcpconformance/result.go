package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// suiteTimeout bounds one run of the suite.
const suiteTimeout = 10 * time.Minute

// result of one scenario, by the suite: how many of its checks passed,
// failed, and warned, and the first reason.
type result struct {
	passed, failed, warned int
	why                    string
}

func (r result) String() string {
	switch {
	case r.failed > 0:
		return fmt.Sprintf("failed %d of %d", r.failed, r.failed+r.passed)
	case r.warned > 0:
		return fmt.Sprintf("passed %d, warned %d", r.passed, r.warned)
	case r.passed > 0:
		return fmt.Sprintf("passed %d", r.passed)
	}
	return "no check"
}

// same reports whether two results are, whatever the reasons are worded like.
func (r result) same(as result) bool {
	return r.passed == as.passed && r.failed == as.failed && r.warned == as.warned
}

// run runs the suite, which fails when a scenario does, and reads what it left.
func (s suite) run(ctx context.Context, args ...string) (map[string]result, error) {
	dir, err := os.MkdirTemp("", "mcp-conformance-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary file more is no failure
	ctx, cancel := context.WithTimeout(ctx, suiteTimeout)
	defer cancel()
	said, err := exec.CommandContext(ctx, s.node, slices.Concat([]string{s.script}, args, []string{"--output-dir", dir})...).CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	results, err := read(dir)
	if err == nil && len(results) == 0 {
		err = fmt.Errorf("the suite left no results: %s", said)
	}
	return results, err
}

// left is the name of what the suite leaves of a scenario: server-NAME-TIME, or
// NAME-TIME for one of a client's.
var left = regexp.MustCompile(`^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// read reads what was left of each scenario, by its name.
func read(dir string) (map[string]result, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		return nil, err
	}
	results := map[string]result{}
	for _, file := range files {
		name := left.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if name == nil {
			return nil, fmt.Errorf("%s is of no scenario", file)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if results[name[1]], err = count(content); err != nil {
			return nil, fmt.Errorf("read the checks of %s: %w", name[1], err)
		}
	}
	return results, nil
}

// count counts the checks of one scenario; those of status INFO check nothing.
func count(checks []byte) (result, error) {
	var all []struct {
		Status       string `json:"status"`
		ErrorMessage string `json:"errorMessage"`
		Description  string `json:"description"`
	}
	if err := json.Unmarshal(checks, &all); err != nil {
		return result{}, err
	}
	var r result
	for _, check := range all {
		switch check.Status {
		case "SUCCESS":
			r.passed++
			continue
		case "FAILURE":
			r.failed++
		case "WARNING":
			r.warned++
		default:
			continue
		}
		r.why = cmp.Or(r.why, check.ErrorMessage, check.Description)
	}
	return r, nil
}

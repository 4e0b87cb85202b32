package main

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
)

// maxSecret is in bytes.
const maxSecret = 64 << 10

// credentials matches names of headers that carry secrets.
var credentials = regexp.MustCompile(`(?i)^(proxy-)?authorization$|^cookie$|token|secret|password|api-?key`)

// secretHeaders parses push's --header flags, and returns the names of headers whose values
// must not be printed. Credentials must not be on the command line, which every local process
// can read.
func secretHeaders(entries []string) (http.Header, []string, error) {
	var masked []string
	resolved := make([]string, len(entries))
	for i, entry := range entries {
		name, value, _ := strings.Cut(entry, ":")
		value, secret, err := resolve(strings.TrimSpace(value))
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("--header %s: %w", name, err)
		case secret:
			masked = append(masked, http.CanonicalHeaderKey(name))
		case credentials.MatchString(name):
			return nil, nil, fmt.Errorf("--header %s: every process of this machine could read the value: pass it as $NAME or @FILE", name)
		case slices.Contains([]string{"Idempotency-Key", "User-Agent"}, http.CanonicalHeaderKey(name)):
			return nil, nil, fmt.Errorf("--header %s is set by mcpaudit and cannot be overridden", name)
		}
		resolved[i] = entry
		if secret {
			resolved[i] = name + ": " + value
		}
	}
	all, err := headers(resolved)
	return all, masked, err
}

// resolve replaces a reference at the end of a value: $NAME by a variable, @FILE by a file's
// content. secret reports whether there was one.
func resolve(value string) (resolved string, secret bool, err error) {
	at := strings.LastIndexByte(value, ' ') + 1
	before, last := value[:at], value[at:]
	if file, ok := strings.CutPrefix(last, "@"); ok {
		content, err := secretFile(file)
		return before + content, true, err
	}
	name, ok := strings.CutPrefix(last, "$")
	if !ok {
		return value, false, nil
	}
	content := os.Getenv(name)
	if content == "" {
		return "", true, fmt.Errorf("$%s is not set in the environment", name)
	}
	return before + content, true, nil
}

// secretFile reads a secret without the trailing newline.
func secretFile(name string) (string, error) {
	b, err := readFile(name, maxSecret)
	if err != nil {
		return "", err
	}
	content := strings.TrimRight(string(b), "\r\n")
	if content == "" {
		return "", fmt.Errorf("%s is empty", name)
	}
	return content, nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
)

// maxSecret is in bytes.
const maxSecret = 64 << 10

// credentials are headers whose values are secret by what they are for.
var credentials = regexp.MustCompile(`(?i)^(proxy-)?authorization$|^cookie$|token|secret|password|api-?key`)

// secretHeaders reads those of push's --header, and names those whose values are not to
// be shown. A credential must not stand on the command line, which every process of
// the machine can read.
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
			return nil, nil, fmt.Errorf("--header %s: its value would be seen by every process of this machine: give it as $NAME or @FILE", name)
		case slices.Contains([]string{"Idempotency-Key", "User-Agent"}, http.CanonicalHeaderKey(name)):
			return nil, nil, fmt.Errorf("--header %s: mcpaudit sends that by itself: leave it out", name)
		}
		resolved[i] = entry
		if secret {
			resolved[i] = name + ": " + value
		}
	}
	all, err := headers(resolved)
	return all, masked, err
}

// resolve puts in the place of the last word of a value what it stands for: $NAME for
// a variable of the environment, @FILE for the content of a file. secret reports whether
// it stands for something.
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

// secretFile reads a secret, without the newline that editors put at its end.
func secretFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	content := strings.TrimRight(string(b), "\r\n")
	switch {
	case err != nil:
		return "", err
	case len(b) > maxSecret:
		return "", fmt.Errorf("%s: it has more than %d bytes", name, maxSecret)
	case content == "":
		return "", errors.New(name + ": it is empty")
	}
	return content, nil
}

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// commandLine is a command line of ours where a command can begin, up to what ends it.
	commandLine = regexp.MustCompile(`(?:^\s*|[|;&(]\s*|/|\b(?:sudo|if|then|do|time)\s+|[A-Z_]=\S+\s+)(kubectl[ -]mcpaudit|mcpaudit cluster|mcpaudit)((?: [^\s|;&<>()` + "`" + `]+)+)`)
	commandName = regexp.MustCompile(`^[a-z]+$`)
	flag        = regexp.MustCompile(`^(--[a-z][a-z-]*|-[A-Za-z])(?:=.*)?$`)
	aFlag       = regexp.MustCompile(`(?:^|[\s,])(--[a-z][a-z-]*|-[A-Za-z])\b`)
	verb        = regexp.MustCompile(`(?m)^  (?:mcpaudit )?([a-z]+)\b`)
)

// kubectlFlags has the flags of kubectl that the plugin takes and does not list.
var kubectlFlags = []string{"--as", "--as-group", "--as-uid", "--token", "--server", "--user", "--cluster", "--request-timeout"}

// TestCommands looks up each command of ours that the pages name, and its flags, in the
// help of the program.
func TestCommands(t *testing.T) {
	program := build(t)
	help := func(args ...string) string {
		out, err := exec.Command(program, args...).CombinedOutput()
		if err != nil && args[len(args)-1] != "--help" { // not every command has one
			t.Fatalf("mcpaudit %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	own, plugin := verbs(help("help")), verbs(help("cluster", "help"))
	helps := map[string]string{}
	seen := 0
	for _, p := range pages(t) {
		for _, line := range p.commandLines() {
			for _, match := range commandLine.FindAllStringSubmatch(line.text, -1) {
				words := strings.Fields(match[2])
				known, prefix := own, []string(nil)
				if match[1] != "mcpaudit" {
					known, prefix = plugin, []string{"cluster"}
				}
				if !commandName.MatchString(words[0]) {
					continue
				}
				seen++
				if !slices.Contains(known, words[0]) {
					t.Errorf("%s:%d: %s %s: there is no such command, only %v", p.path, line.line, match[1], words[0], known)
					continue
				}
				key := strings.Join(append(prefix, words[0]), " ")
				if _, read := helps[key]; !read {
					helps[key] = help(append(slices.Clone(prefix), words[0], "--help")...)
				}
				for _, word := range unknownFlags(helps[key], words[1:]) {
					t.Errorf("%s:%d: %s %s has no flag %s", p.path, line.line, match[1], words[0], word)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands were found in the pages: the test has lost sight of them", seen)
	}
}

// verbs are the commands that a help lists.
func verbs(help string) []string {
	all := []string{"help", "version"}
	for _, match := range verb.FindAllStringSubmatch(help, -1) {
		all = append(all, match[1])
	}
	return all
}

// unknownFlags returns the unknown flags of the words, up to "--", a package or a comment, that the help does not have.
func unknownFlags(help string, words []string) []string {
	has := slices.Clone(kubectlFlags)
	for _, match := range aFlag.FindAllStringSubmatch(help, -1) {
		has = append(has, match[1])
	}
	var unknown []string
	for _, word := range words {
		if word == "--" || strings.HasPrefix(word, "#") || strings.HasPrefix(word, "npm:") || strings.HasPrefix(word, "pypi:") || strings.HasPrefix(word, "oci:") {
			break
		}
		word = strings.Trim(word, `"',.:[]`)
		if match := flag.FindStringSubmatch(word); match != nil && !slices.Contains(has, match[1]) {
			unknown = append(unknown, match[1])
		}
	}
	return unknown
}

// commandLines returns what of a page may be a command: code in sentences, and the lines of
// blocks, of those with output the ones after a prompt.
func (p *page) commandLines() []span {
	all := slices.Clone(p.spans)
	for _, b := range p.blocks {
		for i, line := range strings.Split(strings.ReplaceAll(b.text, "\\\n", ""), "\n") {
			command, prompted := strings.CutPrefix(line, "$ ")
			command, _, _ = strings.Cut(command, " #")
			if b.language == "sh" || prompted {
				all = append(all, span{b.first + 1 + i, command})
			}
		}
	}
	return all
}

// build builds the command line, and returns where it is.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "mcpaudit")
	command := exec.Command("go", "build", "-o", program, "./cmd/mcpaudit")
	command.Dir, command.Stderr = root, os.Stderr
	if err := command.Run(); err != nil {
		t.Fatalf("go build ./cmd/mcpaudit: %v", err)
	}
	return program
}

package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// enum implements pflag.Value.
type enum[T any] struct {
	to    *T
	text  string
	words []string
	find  func(word string) (T, bool)
}

func (e *enum[T]) String() string { return e.text }
func (e *enum[T]) Type() string   { return "string" }

func (e *enum[T]) Set(text string) error {
	value, ok := e.find(text)
	if !ok {
		return fmt.Errorf("want one of %s", strings.Join(e.words, ", "))
	}
	*e.to, e.text = value, text
	return nil
}

// Flag names a flag and describes it.
type Flag struct{ Name, Short, Default, Usage string }

// Enum adds a flag that takes one of a few words, with shell completion.
func Enum[T any](c *cobra.Command, to *T, flag Flag, words []string, find func(word string) (T, bool)) {
	e := &enum[T]{to: to, words: words, find: find}
	if err := e.Set(flag.Default); err != nil {
		panic(fmt.Sprintf("default of --%s: %v", flag.Name, err))
	}
	c.Flags().VarP(e, flag.Name, flag.Short, flag.Usage)
	if err := c.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// Output adds -o; the first of the formats is the default.
func Output(c *cobra.Command, to *string, formats ...string) {
	Enum(c, to, Flag{"output", "o", formats[0], "output format: " + strings.Join(formats, ", ")}, formats,
		func(word string) (string, bool) { return word, slices.Contains(formats, word) })
}

// path implements pflag.Value.
type path string

func (p *path) String() string { return string(*p) }
func (p *path) Type() string   { return "path" }

func (p *path) Set(text string) error {
	*p = path(text)
	return nil
}

// Path adds a flag that names a file or a directory.
func Path(f *pflag.FlagSet, to *string, name, usage string) { f.Var((*path)(to), name, usage) }

// Resolve makes the relative values of Path flags absolute. It leaves out "-", standard input.
func Resolve(f *pflag.FlagSet, dir string) {
	f.VisitAll(func(flag *pflag.Flag) {
		if p, ok := flag.Value.(*path); ok && *p != "" && *p != "-" && !filepath.IsAbs(string(*p)) {
			*p = path(filepath.Join(dir, string(*p)))
		}
	})
}

// Named returns a function that finds one of names by its flag word.
func Named[T ~string](names []T) func(word string) (T, bool) {
	return func(word string) (T, bool) {
		i := slices.IndexFunc(names, func(name T) bool { return strings.EqualFold(strings.ReplaceAll(word, "-", ""), string(name)) })
		if i < 0 {
			return "", false
		}
		return names[i], true
	}
}

// Words returns names as flag words: ReadOnlyHinted becomes read-only-hinted.
func Words[T ~string](names []T) []string {
	var all []string
	for _, name := range names {
		all = append(all, strings.ReplaceAll(strings.ToLower(words.Spell(string(name))), " ", "-"))
	}
	return all
}

// Require makes flags required.
func Require(c *cobra.Command, names ...string) {
	for _, name := range names {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

// FailOn adds --fail-on; the severity is empty for never.
func FailOn(c *cobra.Command, to *report.Severity) {
	words := append(Words(report.Severities), "never")
	slices.Reverse(words) // the lowest first
	Enum(c, to, Flag{"fail-on", "", "high", "lowest severity that fails the audit: " + strings.Join(words, ", ")}, words,
		func(word string) (report.Severity, bool) {
			severity, ok := Named(report.Severities)(word)
			return severity, ok || word == "never"
		})
}

// MinAssurance adds --min-assurance.
func MinAssurance(c *cobra.Command, to *report.AssuranceLevel) {
	words := Words(report.AssuranceLevels)
	Enum(c, to, Flag{"min-assurance", "", Words([]report.AssuranceLevel{report.DefaultMinAssurance})[0],
		"lowest assurance of a Pass: full, partial (half of the tools accepted a call) or weak"}, words, Named(report.AssuranceLevels))
}

// LeastAssurance adds --min-assurance to commands that read verdicts of others; empty for any
// level.
func LeastAssurance(c *cobra.Command, to *report.AssuranceLevel) {
	words := append(Words(report.AssuranceLevels), "any")
	Enum(c, to, Flag{"min-assurance", "", "any", "lowest assurance that the verdict may rest on: full, partial, weak or any"}, words,
		func(word string) (report.AssuranceLevel, bool) {
			level, ok := Named(report.AssuranceLevels)(word)
			return level, ok || word == "any"
		})
}

// Transport adds --transport.
func Transport(c *cobra.Command, to *plan.Transport) {
	Enum(c, to, Flag{"transport", "", "auto", "transport of the server: auto (stdio, or where it is seen to listen), stdio, http (streamable HTTP) or sse (HTTP+SSE)"},
		[]string{"auto", "stdio", "http", "sse"}, plan.ByFlag)
}

// CheckListening checks --port and --path, which only servers that listen have.
func CheckListening(transport plan.Transport, port int, path string) error {
	switch stdio := transport.Name == report.TransportStdio; {
	case stdio && port != 0:
		return fmt.Errorf("--port %d: not valid with --transport stdio; remove one of them", port)
	case stdio && path != "":
		return fmt.Errorf("--path %q: not valid with --transport stdio; remove one of them", path)
	}
	return plan.Within("--port", port, 0, 65535)
}

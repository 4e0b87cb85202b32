//go:build conformance

package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// program is one of programs/*.c, with what its header says:
//
//	// says: DESCRIPTION          of its tool; default "Does one thing."
//	// result: TEXT               of the call; default "ok", "any" for any or none
//	// expect: EVENT              or the beginning of one, up to a space; there are no others
//	// never: EVENT               must not be seen, whatever else is
//	// finding: RULE SEVERITY     these findings, and no others
//	// verdict: VERDICT REASON    default: as the findings say
//	// flags: FLAGS               of gcc
//	// attack: NAME               what the suite does to the tracer meanwhile
//	// alone: WHY                 its events depend on what else there is, so they are not compared
type program struct {
	name, path, source string
	says, result       string
	expect, never      []string
	findings           []string
	verdict, attack    string
	flags              []string
	alone              bool
}

// programs of the suite, once built.
var programs []program

// read reads the header of a program: the comment that it begins with.
func read(source string) (program, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return program{}, err
	}
	p := program{name: strings.TrimSuffix(filepath.Base(source), ".c"), source: source, result: "ok"}
	for line := range strings.Lines(string(text)) {
		comment, ok := strings.CutPrefix(line, "//")
		if !ok {
			break
		}
		key, value, ok := strings.Cut(strings.TrimSpace(comment), ": ")
		if !ok {
			continue
		}
		switch key {
		case "says":
			p.says = value
		case "result":
			p.result = value
		case "expect":
			p.expect = append(p.expect, value)
		case "never":
			p.never = append(p.never, value)
		case "finding":
			p.findings = append(p.findings, value)
		case "verdict":
			p.verdict = value
		case "attack":
			p.attack = value
		case "alone":
			p.alone = true
		case "flags":
			p.flags = strings.Fields(value)
		}
	}
	slices.Sort(p.findings)
	return p, nil
}

// build compiles what has changed and puts all programs into dir.
func build(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	sources, err := filepath.Glob("programs/*.c")
	if err != nil {
		return err
	}
	for _, source := range sources {
		p, err := read(source)
		if err != nil {
			return err
		}
		binary, err := p.compile()
		if err != nil {
			return fmt.Errorf("compile %s: %w", source, err)
		}
		p.path = filepath.Join(dir, p.name)
		if err := os.WriteFile(p.path, binary, 0o755); err != nil {
			return err
		}
		programs = append(programs, p)
	}
	return nil
}

// compile returns the program, from the cache if it is there.
func (p program) compile() ([]byte, error) {
	args := append([]string{"-static", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror", "-I", "programs"}, p.flags...)
	if p.says != "" {
		args = append(args, fmt.Sprintf("-DDESCRIPTION=%q", p.says))
	}
	sum := sha256.New()
	headers, _ := filepath.Glob("programs/*.h") // the pattern is good
	for _, file := range append(headers, p.source) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sum.Write(text)
	}
	sum.Write([]byte(strings.Join(args, "\x00")))
	cache, err := command.Cache("conformance")
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(cache, p.name+"-"+hex.EncodeToString(sum.Sum(nil))[:16])
	if found, err := os.ReadFile(binary); !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	cmd := exec.Command("gcc", append(args, "-o", binary+".new", p.source)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said.String())
	}
	if err := os.Rename(binary+".new", binary); err != nil {
		return nil, err
	}
	return os.ReadFile(binary)
}

// check holds what was seen against the header.
func (p program) check(o outcome) []string {
	var problems []string
	note := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if o.Report.Verdict == "" {
		return []string{"no report"}
	}
	if o.Stats.Unparsed+o.Stats.Cut+o.Stats.Dropped > 0 {
		note("stats %+v", o.Stats)
	}
	if o.Left {
		note("the server lives on")
	}
	said := strings.Split(strings.TrimSpace(o.Report.Server.Stderr), "\n")
	if result := said[len(said)-1]; p.result != "any" && result != p.result {
		note("result %q, want %q", result, p.result)
	}
	for _, want := range p.expect {
		if !slices.ContainsFunc(o.Events, matches(want)) {
			note("not seen: %s", want)
		}
	}
	for _, event := range o.Events {
		if !p.alone && !loading.MatchString(event) && !strings.HasPrefix(event, "exec PROGRAM") && !p.wants(event) {
			note("not expected: %s", event)
		}
	}
	for _, unwanted := range p.never {
		if slices.ContainsFunc(o.Events, matches(unwanted)) {
			note("seen: %s", unwanted)
		}
	}
	if got := o.findings(); !slices.Equal(got, p.findings) {
		note("findings %q, want %q", got, p.findings)
	}
	verdict := string(o.Report.Verdict) + " " + string(o.Report.Reason)
	switch {
	case p.verdict != "":
		if verdict != p.verdict {
			note("verdict %s, want %s: %s", verdict, p.verdict, o.Report.Message)
		}
		return problems
	case o.Report.Verdict != report.VerdictFail && p.fails(), o.Report.Verdict != report.VerdictPass && !p.fails():
		note("verdict %s: %s", verdict, o.Report.Message)
	}
	return problems
}

// fails reports whether the findings are such that the audit fails.
func (p program) fails() bool {
	return slices.ContainsFunc(p.findings, func(finding string) bool {
		return strings.HasSuffix(finding, " High") || strings.HasSuffix(finding, " Critical")
	})
}

// wants reports whether the header names an event.
func (p program) wants(event string) bool {
	return slices.ContainsFunc(p.expect, func(want string) bool { return matches(want)(event) })
}

// matches reports whether an event is, or begins with, the one that is wanted.
func matches(want string) func(string) bool {
	return func(event string) bool {
		rest, ok := strings.CutPrefix(event, want)
		return ok && (rest == "" || rest[0] == ' ')
	}
}

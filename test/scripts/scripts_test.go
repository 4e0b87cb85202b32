// Package scripts tests the command line as a user meets it: the built program,
// real servers, exit codes and output. Each testdata/*.txtar is one story; the
// commands beyond those of testscript are defined here.
package scripts

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/programs"
)

// atOnce is the number of stories that run at a time: they mostly wait.
const atOnce = "7"

// built is the directory of the programs.
var built string

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	packages := []string{"./cmd/mcpaudit"}
	for _, server := range []string{"honest", "leaky", "misbehave", "rugpull", "under", "fetch", "tickets", "hints", "devices", "roadmap"} {
		packages = append(packages, "./test/servers/go/"+server)
	}
	os.Exit(programs.Run(m, &built, packages...))
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("BIN", built)
			env.Setenv("DUE", time.Now().AddDate(0, 0, 30).Format(time.DateOnly))
			servers, err := filepath.Abs(filepath.Join("..", "servers"))
			if err != nil {
				return err
			}
			env.Setenv("SERVERS", servers)
			env.Setenv("PATH", built+string(filepath.ListSeparator)+pathOf(env))
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "finding": finding, "verdict": verdict, "empty": empty, "carried": carried, "rules": rules, "serve": serve, "receive": receive, "registry": registry, "container": container,
		},
	})
}

// pathOf is the search path without the toolchain that make puts in front, whose directory bears our
// name: a server that looks for an audit shall find only what mcpaudit itself shows.
func pathOf(env *testscript.Env) string {
	dirs := filepath.SplitList(env.Getenv("PATH"))
	cache := os.Getenv("MCPAUDIT_CACHE")
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return cache != "" && strings.HasPrefix(dir, cache) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// exits CODE COMMAND... runs a command and wants its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// read decodes the report in a file, or in "stdout".
func read(ts *testscript.TestScript, file string) report.Report {
	r, err := report.Decode([]byte(ts.ReadFile(file)))
	ts.Check(err)
	return r
}

// verdict FILE VERDICT REASON wants these of a report.
func verdict(ts *testscript.TestScript, _ bool, args []string) {
	r := read(ts, args[0])
	if string(r.Verdict) != args[1] || string(r.Reason) != args[2] {
		ts.Fatalf("verdict %s (%s), want %s (%s)", r.Verdict, r.Reason, args[1], args[2])
	}
}

// finding FILE SEVERITY CAPABILITY TEXT wants a finding whose message and whose
// evidence name the text. With "!" it wants no finding at all.
func finding(ts *testscript.TestScript, neg bool, args []string) {
	r := read(ts, args[0])
	if neg {
		if len(r.Findings) > 0 {
			ts.Fatalf("there are findings: %+v", r.Findings)
		}
		return
	}
	for _, f := range r.Findings {
		if string(f.Severity) == args[1] && f.Capability.String() == args[2] && strings.Contains(f.Message, args[3]) && len(f.Evidence) > 0 {
			return
		}
	}
	ts.Fatalf("no %s finding of %s that names %s in %+v", args[1], args[2], args[3], r.Findings)
}

// rules FILE ID... wants the findings to be of these rules, one each, and of no other.
func rules(ts *testscript.TestScript, _ bool, args []string) {
	var got []string
	for _, f := range read(ts, args[0]).Findings {
		got = append(got, f.Rule)
	}
	slices.Sort(got)
	if want := args[1:]; !slices.Equal(got, want) {
		ts.Fatalf("findings of %q, want %q: %+v", got, want, read(ts, args[0]).Findings)
	}
}

// carried FILE WAY SECRET FORM EXCERPT wants the one Critical finding that says that
// the tool carried off a secret this way and in this form, with evidence that
// matches the expression.
func carried(ts *testscript.TestScript, _ bool, args []string) {
	way, secret, form, excerpt := args[1], args[2], args[3], regexp.MustCompile(args[4])
	var critical []report.Finding
	for _, f := range read(ts, args[0]).Findings {
		if f.Severity == report.SeverityCritical {
			critical = append(critical, f)
		}
	}
	if len(critical) != 1 {
		ts.Fatalf("%d Critical findings, want 1: %+v", len(critical), critical)
	}
	f, rule := critical[0], "MCPA-SECRET-002"
	if strings.Contains(way, "answer") {
		rule = "MCPA-SECRET-003"
	}
	if f.Rule != rule || f.Capability.String() != "tool format_note" || f.Phase != report.PhaseCall ||
		!strings.Contains(f.Message, way+" the decoy secret "+secret) || !strings.HasSuffix(f.Message, form+".") {
		ts.Fatalf("it is not %q, %s, %s: %+v", way, secret, form, f)
	}
	if e := f.Evidence[0]; !excerpt.MatchString(e.Detail) || e.Attribution != report.AttributionInFlight {
		ts.Fatalf("the evidence does not match %s: %+v", excerpt, e)
	}
}

// empty DIR wants a directory without entries.
func empty(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s has %v", args[0], entries)
	}
}

package trace

import (
	"context"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/plan"
)

// PtraceStage is the name under which a program that uses plan.TracerPtrace
// runs itself as the tracer: the main function calls ptrace.Stage.
const PtraceStage = "ptrace-tracer"

// Choose decides for TracerAuto or "": strace if a usable one is installed, else our own
// tracer, which needs nothing. Only our own can change the clock.
func Choose(ctx context.Context, b plan.Tracer, c Clock) plan.Tracer {
	if !c.True() {
		return plan.TracerPtrace
	}
	if b != plan.TracerAuto && b != "" {
		return b
	}
	version, err := Version(ctx)
	if err != nil || !usable(version) {
		return plan.TracerPtrace
	}
	return plan.TracerStrace
}

// usable reports whether a version of strace is new enough: from 6.1 on it prints
// descriptors in the format that the decoder knows.
func usable(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	m, err := strconv.Atoi(major)
	if err != nil {
		return false
	}
	n, _ := strconv.Atoi(minor) // "6" is 6.0
	return m > 6 || m == 6 && n >= 1
}

// Wrap returns the command line of the tracer around command. Only traced calls
// stop the server; all others are as fast as without it.
func Wrap(cfg Config, command []string) []string {
	return append(append(cfg.tracer(), cfg.wrapping()...), command...)
}

// tracer returns the command line of the tracer without its target.
func (c Config) tracer() []string {
	if c.Backend == plan.TracerPtrace {
		return []string{ownProgram, PtraceStage, "--output", c.File, "--clock", c.Clock.String()}
	}
	return append([]string{program}, straceFlags(c.File)...)
}

// ownProgram is the path of this program, wherever it was started from.
const ownProgram = "/proc/self/exe"

func (c Config) wrapping() []string {
	if c.Backend == plan.TracerPtrace {
		return []string{"--"}
	}
	return []string{"--seccomp-bpf", "--"}
}

func (c Config) attaching(pid int) []string {
	flag := "-p"
	if c.Backend == plan.TracerPtrace {
		flag = "--attach"
	}
	return append(c.tracer(), flag, strconv.Itoa(pid))
}

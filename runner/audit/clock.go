package audit

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/faketime"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Clock is a Launcher that can set the server's clock forward.
type Clock interface {
	// Files of the server, to look at its programs.
	faketime.Files
	// Library is the path of libfaketime as the server sees it; the error says in
	// words why it has none.
	Library() (string, error)
}

// maxPrograms bounds the programs of a server that are kept, by number.
const maxPrograms = 64

// programs has those that a server is made of, in the order of the first time.
type programs struct {
	paths []string
	// library sets the clock forward, where that is done; loaded: by one of
	// the programs.
	library string
	loaded  bool
}

// event takes in an event of the trace. It reports whether the event is the doing of
// the library, and not of the server.
func (p *programs) event(e trace.Event) (ours bool) {
	switch {
	case e.Op == trace.OpExec && e.Errno == "" && len(p.paths) < maxPrograms && !slices.Contains(p.paths, e.Path):
		p.paths = append(p.paths, e.Path)
	case p.library == "":
	case e.Op == trace.OpRead && e.Path == p.library:
		p.loaded = p.loaded || e.Errno == ""
		return true
	case e.Op != trace.OpExec:
		return faketime.Owns(e.Path)
	}
	return false
}

// interpreters adds those of scripts to the code paths: the kernel starts them without a
// call that the trace could show.
func (p *programs) interpreters(launcher Launcher, code *profile.Code) {
	files, ok := launcher.(Clock)
	if !ok {
		return
	}
	for _, program := range p.paths {
		for _, interpreter := range faketime.Interpreters(files, program) {
			code.Add(trace.Event{Op: trace.OpExec, Path: interpreter})
		}
	}
}

var errNoClock = errors.New("the clock cannot be set where the server runs")

// shift fills in how the clock is set, by the variables that tell the library, for the
// programs that the server was made of in the run that exercised it, or why it cannot be.
func shift(how launch, clock Clock, runs []observation, tell func(library string) []string) launch {
	how.impossible = errNoClock
	if clock == nil {
		return how
	}
	library, err := clock.Library()
	if err != nil {
		how.impossible = err
		return how
	}
	var unaffected []string
	paths := exercised(runs).programs
	for _, path := range paths {
		if why := faketime.Unaffected(clock, path); why != "" {
			unaffected = append(unaffected, path+" "+why)
		}
	}
	how.unaffected = strings.Join(unaffected[:min(len(unaffected), 4)], ", ")
	if len(unaffected) == len(paths) {
		how.impossible = errors.New(how.unaffected)
		return how
	}
	how.impossible, how.library, how.env = nil, library, tell(library)
	return how
}

// clock returns why it was not seen what the server does at a later date.
func (c *collection) clock(o observation) {
	when := map[report.Moment]string{report.MomentClock: "at a later date", report.LaunchDay: "as a day goes by"}[o.how.moment]
	if when == "" {
		return
	}
	who, why := "the server was", ""
	switch {
	case o.launched != nil:
		why = o.launched.Error()
	case !o.compared():
		why = cmp.Or(o.unanswered().Message, "the lists did not come whole")
	case why == "" && !o.loaded:
		why = "the library that does so was not loaded"
	case why == "":
		who, why = "parts of the server were", o.how.unaffected
	}
	if why != "" {
		c.add("ClockNotShifted", 1, who+" not seen "+when+": "+why)
	}
}

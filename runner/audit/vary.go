package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/depend"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// mostVaried bounds the launches in which decoys are varied.
const mostVaried = 3 * time.Minute

// variedTimeout bounds a call in them. A call that is cancelled and repeated may have sent some of its data.
const variedTimeout = 10 * time.Second

var (
	errNothingRead = errors.New("the server opened no decoy, and nothing left it that could hold a variable")
	errFoundOut    = errors.New("a decoy was found in what the server sent: whether more depends on one changes nothing")
	errCutShort    = errors.New("there was no time for all of them")
)

// mostVariedCalls bounds the calls of one tool in such a launch, and variedCalls those of all. A server that sends one
// bit of a key per call begins with some forty that all keys of an issuer share.
const mostVariedCalls, variedCalls = 60, 120

// usualVaried is how many launches it takes to name a decoy. If the first takes more than its share of the time, it is
// made again with fewer calls, but no fewer than fewVariedCalls.
const usualVaried, fewVariedCalls = 16, 2

// variedSettle is how long the server must be quiet after each call: less than during the exercise, because the whole
// launch is compared.
const variedSettle = 20 * time.Millisecond

// vary prepares the launches that call everything a few times with the same and with other decoys, by a client in an
// editor. If the server read decoys only in another launch, they resemble that launch.
func vary(plan Plan, how *launch, runs []observation) {
	callAgain(plan, how, runs)
	how.vary, how.identity, how.refused = true, claudeDesktop, exercised(runs).result.Refused
	how.calls = min(max(variedCalls/max(len(exercised(runs).result.Manifest.Tools), 1), 1), mostVariedCalls)
	for _, o := range runs {
		if len(o.opened) > 0 {
			how.clock, how.wait, how.identity, how.revision, how.standIns, how.asked = o.how.clock, o.how.wait, o.how.identity, o.how.revision, o.how.standIns, o.how.asked
			return
		}
	}
}

// unvaried marks the launches as impossible if other decoys would show nothing.
func unvaried(how launch, plan Plan, runs []observation) launch {
	switch {
	case slices.ContainsFunc(runs, func(o observation) bool {
		return slices.ContainsFunc(o.leaks, func(l leak.Leak) bool { return l.Channel.Network() && !l.Home })
	}):
		how.impossible = errFoundOut
	case len(plan.read(runs)) == 0 && !outlet(runs):
		how.impossible = errNothingRead
	}
	return how
}

// read returns the decoy files that a server had read. Files that ordinary tools open unasked count like the
// environment: only if data could have left.
func (p Plan) read(runs []observation) (all []decoy.ID) {
	open := outlet(runs)
	for _, o := range runs {
		for _, name := range o.opened {
			f, _ := p.Decoys.Find(name)
			if id := (decoy.ID{Name: name}); (open || !f.Routine) && !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

// series are launches with some decoys changed.
type series struct {
	plan     Plan
	how      launch
	start    func(context.Context, launch) observation
	other    decoy.Set
	launches []varied
	failed   error
}

type varied struct {
	changed []decoy.ID
	*depend.Record
}

// varied starts the server with the same decoys and with others, in an order in which neither growing nor alternating
// values look like a difference. If something differs, it finds one decoy that this depends on by bisection, and
// changes that one alone twice more.
func (p Plan) varied(ctx context.Context, how launch, runs []observation, start func(context.Context, launch) observation) observation {
	other, err := p.Decoys.Other()
	if err != nil {
		return observation{launched: err}
	}
	s := series{plan: p, how: how, start: start, other: other}
	o := observation{varied: other}
	files := p.read(runs)
	candidates := s.candidates(files, outlet(runs))
	began := time.Now()
	s.launch(ctx, nil)
	if took := time.Since(began); took > mostVaried/usualVaried && s.how.calls > fewVariedCalls {
		s.how.calls = max(fewVariedCalls, int(time.Duration(s.how.calls)*(mostVaried/usualVaried)/took))
		s.launches = nil
		s.launch(ctx, nil)
	}
	s.launch(ctx, candidates)
	if s.failed == nil && !s.launches[0].Same(s.launches[1].Record) {
		s.launch(ctx, candidates)
		s.launch(ctx, nil)
		o.dependences = s.find(ctx, candidates, len(files))
		o.undecided = s.undecided(files)
	}
	o.launched = s.failed
	return o
}

// candidates returns the decoys that a server has read, or may have read without a trace.
func (s *series) candidates(files []decoy.ID, variables bool) (all []decoy.ID) {
	differing := s.plan.Decoys.Differing(s.other)
	for _, id := range files {
		if slices.Contains(differing, id) {
			all = append(all, id)
		}
	}
	for _, id := range differing {
		if id.Variable && variables {
			all = append(all, id)
		}
	}
	return all
}

// launch starts the server once, with some decoys changed.
func (s *series) launch(ctx context.Context, changed []decoy.ID) {
	if s.failed != nil {
		return
	}
	how, set := s.how, s.plan.Decoys.Mixed(s.other, changed)
	how.decoys = &set
	o := s.start(ctx, how)
	switch {
	case ctx.Err() != nil:
		s.failed = errCutShort
	case o.unwatched().Reason != "":
		s.failed = errors.New(o.unwatched().Message)
	default:
		s.launches = append(s.launches, varied{changed, o.left})
	}
}

// records returns those of the launches in which a decoy was changed; with nil, of those in which none was.
func (s *series) records(of *decoy.ID) (all []*depend.Record) {
	for _, l := range s.launches {
		if of == nil && len(l.changed) == 0 || of != nil && slices.Contains(l.changed, *of) {
			all = append(all, l.Record)
		}
	}
	return all
}

// find returns what depends on which decoy.
func (s *series) find(ctx context.Context, candidates []decoy.ID, files int) (all []rules.Dependence) {
	if s.failed != nil {
		return nil
	}
	suspects := depend.Suspects(s.records(nil), []*depend.Record{s.launches[1].Record, s.launches[2].Record})
	var on []decoy.ID
	for _, suspect := range suspects {
		on = append(on, s.halve(ctx, suspect, candidates, files))
	}
	if len(suspects) == 0 || s.failed != nil {
		return nil
	}
	alone := slices.Clone(on)
	slices.SortFunc(alone, func(a, b decoy.ID) int { return strings.Compare(a.Name, b.Name) })
	alone = slices.Compact(alone)
	for _, changed := range [][]decoy.ID{alone, nil, nil, alone} {
		s.launch(ctx, changed)
	}
	if s.failed != nil {
		return nil
	}
	for i, suspect := range suspects {
		for _, confirmed := range depend.Suspects(s.records(nil), s.confirming(on[i])) {
			if confirmed.Along(suspect.Way) && !s.plan.masked(on[i], confirmed) {
				all = append(all, s.dependence(on[i], confirmed))
			}
		}
	}
	return all
}

// confirming returns the last launches in which a decoy was changed.
func (s *series) confirming(of decoy.ID) []*depend.Record {
	all := s.records(&of)
	return all[len(all)-2:]
}

// halve returns a decoy that a suspect depends on, by bisection, beginning with files and variables.
func (s *series) halve(ctx context.Context, suspect depend.Suspect, candidates []decoy.ID, files int) decoy.ID {
	for middle := min(files, len(candidates)); len(candidates) > 1 && s.failed == nil; middle = len(candidates) / 2 {
		if middle == 0 || middle == len(candidates) {
			middle = len(candidates) / 2
		}
		without := s.launched(ctx, candidates[:middle])
		if s.failed != nil {
			break
		}
		if suspect.In(without) {
			candidates = candidates[middle:]
		} else {
			candidates = candidates[:middle]
		}
	}
	return candidates[0]
}

// launched returns the record of a launch in which these decoys were changed. Suspects often depend on the same decoy, so
// that one launch serves them all.
func (s *series) launched(ctx context.Context, changed []decoy.ID) *depend.Record {
	for _, l := range s.launches {
		if slices.Equal(l.changed, changed) {
			return l.Record
		}
	}
	if s.launch(ctx, changed); s.failed != nil {
		return nil
	}
	return s.launches[len(s.launches)-1].Record
}

// masked reports whether the difference is only a few characters of the secret, as programs show to their user of a
// key in use ("sk-…k3Vq"). What goes over the network is no such display: another part could follow the next day.
func (p Plan) masked(of decoy.ID, s depend.Suspect) bool {
	const most, words = 15, 4
	if s.Channel.Network() {
		return false
	}
	text := strings.Join(s.Cores, " ")
	shown := strings.FieldsFunc(text, func(r rune) bool { return !decoy.Letter(r) })
	return len(s.Cores) > 0 && len(text) <= most && len(shown) <= words && !slices.ContainsFunc(shown, func(word string) bool { return !p.Decoys.Holds(of, word) })
}

// dependence converts a suspect to an input of the rules.
func (s *series) dependence(on decoy.ID, what depend.Suspect) rules.Dependence {
	return rules.Dependence{
		Leak: leak.Leak{
			Where: what.Where, Decoy: on, Channel: what.Channel, Destination: what.Destination, Count: 1, Time: what.Time,
			Home: leak.ForService(s.plan.Decoys.Hosts(on), what.Named), Encoding: "unknown", Excerpt: what.With,
		},
		Other: what.Without,
	}
}

// undecided describes data that left the server and differs each time: any data if the server read a decoy file; if
// it only had variables, data to another machine that is longer than a request's random ids.
func (s *series) undecided(files []decoy.ID) (all []string) {
	if slices.ContainsFunc(s.launches, func(l varied) bool { return l.Rest != s.launches[0].Rest }) {
		all = append(all, "what left the server after the first half MiB, and was not the same in each launch: whether it holds a secret is not known")
	}
	same := s.records(nil)
	if len(same) < 2 {
		return all
	}
	read := "one of its variables"
	if len(files) > 0 {
		read = "one that it had read (" + files[0].Name + ")"
	}
	for _, noise := range depend.NoiseOf(same[0], same[1]) {
		if noise.Channel == leak.File || len(files) == 0 && !noise.Linked && !(noise.Long && noise.Channel.Network()) {
			continue // names of temporary files are random
		}
		all = append(all, fmt.Sprintf("what left the server and was different with the same secrets as well, so that it may hold %s, such as %s: %d bytes, %.1f bits of entropy each",
			read, way(noise.Way), noise.Size, noise.Bits))
	}
	return all
}

// way describes for people how data left.
func way(w depend.Way) string {
	text := string(w.Channel)
	if w.Destination != "" {
		text += " to " + w.Destination
	}
	if w.Capability.Kind != report.CapabilityServer {
		text += " in a call of " + w.Capability.String()
	}
	return text
}

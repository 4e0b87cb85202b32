package offline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// The verdict field of a line.
const (
	lineDeny = "deny"
	linePass = "pass"
	lineNone = "none" // neither, but there may be an exception
)

// another stands for a command that no image was audited with: the decision about it applies to
// all unlisted commands. It is never written.
const another = "\x00"

// subject is an image in a list.
type subject struct {
	image, namespace string
	verdicts         []*gate.Verdict
}

// subjects returns the images that a policy has valid verdicts on, by key.
func (r *rule) subjects(w World) map[string]*subject {
	found := map[string]*subject{}
	for _, v := range w.Verdicts {
		namespace := r.namespace
		if namespace == "" {
			namespace = v.Audit.Namespace
		}
		if !r.read.Trusts(v, namespace, w.Facts) {
			continue
		}
		add := func(key, image string) {
			key = keyOf(r.prefix(namespace), key)
			if found[key] == nil {
				found[key] = &subject{image: image, namespace: namespace}
			}
			found[key].verdicts = append(found[key].verdicts, v)
		}
		name, _, pinned := strings.Cut(v.Image, "@")
		for _, digest := range v.Manifests() {
			add(string(digest), cmp.Or(name, "image")+"@"+string(digest))
		}
		if v.ImageID != "" {
			add(idPrefix+string(v.ImageID), string(v.ImageID))
		}
		if v.Image != "" && !pinned {
			add(v.Image, v.Image)
		}
	}
	return found
}

// opinions asks the gate about an image: with each audited command, by CommandDigest, and with
// another.
func (s *subject) opinions(p *gate.Policy, w World, architecture string) map[v1alpha1.Digest]gate.Opinion {
	commands := []*gate.Verdict{{CommandDigest: another, Command: []string{another}}}
	known := map[v1alpha1.Digest]bool{}
	for _, v := range s.verdicts {
		if !known[v.CommandDigest] && showable(v) {
			known[v.CommandDigest] = true
			commands = append(commands, v)
		}
	}
	asked := gate.Subject{Kind: "Pod", Namespace: s.namespace, Name: "a", Target: v1alpha1.TargetPods, Architecture: architecture}
	if architecture != "" {
		asked.OS = "linux" // as audits are
	}
	for i, c := range commands {
		asked.Containers = append(asked.Containers, gate.Container{
			Name: strconv.Itoa(i), Role: gate.RoleContainer, Image: s.image, Command: c.Command, Args: c.Args,
		})
	}
	facts := w.Facts
	facts.Policies, facts.Exceptions = []*gate.Policy{p}, nil
	answers := map[v1alpha1.Digest]gate.Opinion{}
	for _, o := range gate.Decide(asked, facts).Opinions {
		if i, err := strconv.Atoi(o.Container.Name); err == nil {
			answers[commands[i].CommandDigest] = o
		}
	}
	return answers
}

// showable reports whether a verdict's command line is known, was run as written, and is short
// enough to list.
func showable(v *gate.Verdict) bool {
	return len(words(v.Command))+len(words(v.Args)) <= maxTold && v1alpha1.CommandDigest(v.Command, v.Args) == v.CommandDigest &&
		!slices.ContainsFunc(slices.Concat(v.Command, v.Args), gate.Expands)
}

// line formats a line for a command line, or with "*" for any.
func line(command, args, verdict, exceptions, end string) string {
	return strings.Join([]string{command, args, verdict, exceptions, end}, "\t")
}

// denied returns the lines of the deny list: observations against an image. Passed commands are
// listed where everything else would be denied.
func (s *subject) denied(p *gate.Policy, w World, exceptions string) []string {
	against := func(v *gate.Verdict) bool {
		return observed(p.Standing(v, w.Facts.Now))
	}
	if !slices.ContainsFunc(s.verdicts, against) {
		return nil
	}
	answers := s.opinions(p, w, "")
	any, of := denies(answers[another]), end(answers[another])
	// The whole command line may be that of a pass that is known only by digest.
	all := any && !slices.ContainsFunc(s.verdicts, func(v *gate.Verdict) bool { return v.ArgvDigest != "" && !against(v) })
	var lines []string
	for _, v := range s.distinct(answers) {
		switch o := answers[v.CommandDigest]; {
		case denies(o) && end(o) == of && (all || any && len(v.Command) == 0): // as below
		case denies(o):
			lines = append(lines, line(words(v.Command), words(v.Args), lineDeny, exceptions, end(o)))
		case any:
			lines = append(lines, line(words(v.Command), words(v.Args), linePass, "", ""))
		}
	}
	switch {
	case all:
		lines = append(lines, line("*", "*", lineDeny, exceptions, of))
	case any:
		lines = append(lines, line("", "*", lineDeny, exceptions, of))
	}
	return lines
}

// observed reports whether a reason is an observation of an audit.
func observed(reason v1alpha1.GateReason) bool {
	return reason == v1alpha1.GateFailed || reason == v1alpha1.GateExposed || reason == v1alpha1.GateDrifted
}

// denies reports whether an image is denied for an observation.
func denies(o gate.Opinion) bool { return o.Action == v1alpha1.ActionDeny && observed(o.Reason) }

// passed returns the lines of the allow list. Platforms are left to the gate, which knows where
// a Pod may run.
func (s *subject) passed(p *gate.Policy, w World, exceptions string) []string {
	architectures := map[string]bool{"": true}
	for _, v := range s.verdicts {
		architectures[v.Architecture] = true
	}
	answers := s.opinions(p, w, "")
	passes := map[v1alpha1.Digest]bool{}
	for architecture := range architectures {
		for command, o := range s.opinions(p, w, architecture) {
			passes[command] = passes[command] || o.Action != v1alpha1.ActionDeny
		}
	}
	var lines []string
	for _, v := range s.distinct(answers) {
		o := answers[v.CommandDigest]
		switch {
		case passes[v.CommandDigest] && !passes[another]:
			lines = append(lines, line(words(v.Command), words(v.Args), linePass, "", ""))
		case !passes[v.CommandDigest]: // with the gate's own text
			lines = append(lines, line(words(v.Command), words(v.Args), lineNone, exceptions, end(o)))
		}
	}
	switch {
	case passes[another]:
		lines = append(lines, line("*", "*", linePass, "", ""))
	case exceptions != "":
		lines = append(lines, line("*", "*", lineNone, exceptions, ""))
	}
	return lines
}

// distinct returns one verdict per command, in order.
func (s *subject) distinct(answers map[v1alpha1.Digest]gate.Opinion) []*gate.Verdict {
	seen := map[v1alpha1.Digest]bool{}
	var list []*gate.Verdict
	for _, v := range s.verdicts {
		if _, answered := answers[v.CommandDigest]; answered && showable(v) && !seen[v.CommandDigest] {
			seen[v.CommandDigest] = true
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *gate.Verdict) int { return strings.Compare(string(a.CommandDigest), string(b.CommandDigest)) })
	return list
}

// end returns the finding after the image, which callers name as the object does.
func end(o gate.Opinion) string { return sentences.Replace(o.Finding) }

package drift

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/sweep"
)

// fact is an input of a judgement: verdicts by digest or reference, or the labels of a
// namespace.
type fact struct{ kind, name string }

const (
	aDigest    = "digest"
	anImageID  = "image ID"
	aReference = "reference"
	aNamespace = "namespace"
)

// recorder answers the gate and records its queries, which shows what a judgement rests on
// without knowing how the gate decides.
type recorder struct {
	facts gate.Facts
	// labels of the namespaces queried before, unchanged since.
	labels   map[string]labels.Set
	asked    []fact
	verdicts []*gate.Verdict
}

func (w *recorder) note(kind, name string) {
	if f := (fact{kind, name}); !slices.Contains(w.asked, f) { // a handful
		w.asked = append(w.asked, f)
	}
}

// found records the verdicts on an image.
func (w *recorder) found(kind, name string, verdicts []*gate.Verdict) []*gate.Verdict {
	w.note(kind, name)
	w.verdicts = append(w.verdicts, verdicts...)
	return verdicts
}

// ByDigest implements gate.Verdicts.
func (w *recorder) ByDigest(digest v1alpha1.Digest) []*gate.Verdict {
	return w.found(aDigest, string(digest), w.facts.Verdicts.ByDigest(digest))
}

// ByImageID implements gate.Verdicts.
func (w *recorder) ByImageID(id v1alpha1.Digest) []*gate.Verdict {
	return w.found(anImageID, string(id), w.facts.Verdicts.ByImageID(id))
}

// ByImage implements gate.Verdicts.
func (w *recorder) ByImage(image string) []*gate.Verdict {
	return w.found(aReference, image, w.facts.Verdicts.ByImage(image))
}

func (w *recorder) namespaceLabels(namespace string) (labels.Set, bool) {
	w.note(aNamespace, namespace)
	set, noted := w.labels[namespace]
	if !noted {
		known := false
		if set, known = w.facts.NamespaceLabels(namespace); known && set == nil {
			set = labels.Set{}
		}
		w.labels[namespace] = set
	}
	return set, set != nil
}

var errLarge = fmt.Errorf("its names, words, variables and labels have more than %d KiB, which are too many", maxSignature>>10)

// opinions asks the gate about a group; why is set if it cannot judge it, which its first container
// then stands for.
func (w *recorder) opinions(g *group) (all []gate.Opinion, why string) {
	facts := w.facts
	facts.Verdicts, facts.NamespaceLabels = w, w.namespaceLabels
	err := errLarge
	if !g.Reduced {
		err = gate.Judgeable(g.Subject, facts)
	}
	if err == nil {
		return gate.Decide(g.Subject, facts).Opinions, ""
	}
	for _, p := range gate.Denying(g.Subject.Namespace, g.Subject.Target, facts) {
		all = append(all, gate.Opinion{Policy: p, Container: g.Subject.Containers[0], Reason: v1alpha1.GateUnreadable, Action: v1alpha1.ActionDeny})
	}
	return all, err.Error()
}

// judge judges a group. facts are those of its namespace.
func judge(g *group, facts gate.Facts, labels map[string]labels.Set) judgement {
	w := &recorder{facts: facts, labels: labels}
	all, why := w.opinions(g)
	j := judgement{judged: true, unreadable: why}
	for _, o := range all {
		at := slices.IndexFunc(g.Subject.Containers, func(c gate.Container) bool {
			return c.Name == o.Container.Name && c.Role == o.Container.Role
		})
		if at >= 0 {
			j.opinions = append(j.opinions, opinion{policy: o.Policy, container: at, reason: o.Reason, violates: violates(o)})
		}
	}
	j.rests, j.due = slices.Clip(w.asked), due(facts, w.verdicts)
	return j
}

// violates reports whether a policy would deny in mode Enforce.
func violates(o gate.Opinion) bool {
	return o.Action == v1alpha1.ActionDeny && o.Exception == nil
}

// due returns the first time after now at which a verdict becomes too old for a policy or an
// exception ends; zero if there is none. It may be early, which is harmless.
func due(facts gate.Facts, verdicts []*gate.Verdict) time.Time {
	var first time.Time
	consider := func(t time.Time) {
		// One second later it is certainly past.
		if t = t.Add(time.Second); t.After(facts.Now) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	for _, p := range facts.Policies {
		if p.Gate.MaxAge == nil {
			continue
		}
		for _, v := range verdicts {
			consider(v.Time.Add(p.Gate.MaxAge.Duration))
			if !v.Passed.IsZero() {
				consider(v.Passed.Add(p.Gate.MaxAge.Duration))
			}
		}
	}
	for _, e := range facts.Exceptions {
		consider(e.Expires)
	}
	return first
}

// news has the changes since the last pass.
type news struct {
	all        bool
	namespaces map[string]bool
	facts      map[fact]bool
}

// concerns reports whether a group must be judged again.
func (n *news) concerns(g *group, now time.Time) bool {
	return n.all || !g.judged || n.namespaces[g.Subject.Namespace] || !g.due.IsZero() && !now.Before(g.due) ||
		len(n.facts) > 0 && slices.ContainsFunc(g.rests, func(f fact) bool { return n.facts[f] })
}

// memory has the facts of the last pass.
type memory struct {
	verdicts   map[types.NamespacedName]*gate.Verdict
	exceptions map[types.NamespacedName]*gate.Exception
	// labels of the namespaces that judgements rest on; nil if unknown.
	labels        map[string]labels.Set
	architectures []string
}

// learn compares the facts with the last pass. Verdicts and exceptions are immutable, so
// comparing pointers is enough.
func (m *memory) learn(index sweep.Index, facts gate.Facts) news {
	n := news{namespaces: map[string]bool{}, facts: map[fact]bool{}}
	verdicts := make(map[types.NamespacedName]*gate.Verdict, len(m.verdicts))
	for v := range index.All() {
		verdicts[v.Audit] = v
	}
	compare(m.verdicts, verdicts, func(_ types.NamespacedName, v *gate.Verdict) {
		n.facts[fact{aReference, v.Image}] = true
		n.facts[fact{anImageID, string(v.ImageID)}] = true
		for _, d := range v.Manifests() {
			n.facts[fact{aDigest, string(d)}] = true
		}
	})
	exceptions := make(map[types.NamespacedName]*gate.Exception, len(facts.Exceptions))
	for _, e := range facts.Exceptions {
		exceptions[e.NamespacedName] = e
	}
	compare(m.exceptions, exceptions, func(name types.NamespacedName, _ *gate.Exception) { n.namespaces[name.Namespace] = true })
	for name, before := range m.labels {
		set, known := facts.NamespaceLabels(name)
		if known != (before != nil) || !maps.Equal(set, before) {
			delete(m.labels, name) // the next query records the new ones
			n.facts[fact{aNamespace, name}] = true
		}
	}
	n.all = !slices.Equal(m.architectures, facts.Architectures)
	m.verdicts, m.exceptions, m.architectures = verdicts, exceptions, facts.Architectures
	return n
}

// compare calls differs for each key whose values differ; missing values are zero.
func compare[K, V comparable](before, after map[K]V, differs func(K, V)) {
	for name, old := range before {
		if after[name] != old {
			differs(name, old)
		}
	}
	for name, fresh := range after {
		if before[name] != fresh {
			differs(name, fresh)
		}
	}
}

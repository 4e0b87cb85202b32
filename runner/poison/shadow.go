package poison

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// shadows reports whether the sentence replaces a tool that the server lacks by another.
func (r *reader) shadows(all []sentence, i int) verdict {
	s := &all[i]
	absent := r.absent(s)
	switch {
	case absent.name == "":
		return verdict{}
	case s.has(replaced) && s.text(absent.at+1) != "(":
		return verdict{confidence: 0.6, tools: named(absent)}
	case !s.has(negations) && !s.has(alternatives):
		return verdict{}
	}
	for _, t := range s.triggers {
		if t.tool.name == absent.name && slices.ContainsFunc(s.orders, func(o demand) bool { return o.tool.own || o.tool.known }) {
			return verdict{confidence: 0.7, tools: named(absent)}
		}
	}
	return verdict{}
}

// absent returns the first named tool that the server lacks.
func (r *reader) absent(s *sentence) reference {
	for i := range s.Tokens {
		if ref := r.refAt(s, i); ref.other() && !ref.known && (tools[s.text(i-1)] || tools[s.text(i+1)]) {
			return ref
		}
	}
	return reference{}
}

// praises reports whether a tool recommends itself as safer than a well-known one, or than
// any other.
func (r *reader) praises(all []sentence, i int) verdict {
	s := &all[i]
	safer := s.some(func(j int) bool { return s.text(j) == "safer" || s.text(j) == "more" && trust[s.text(j+1)] })
	if !s.has(trust) || !safer && !s.has(officially) || !saysNear(all, i, stock) {
		return verdict{}
	}
	absent := r.anyAbsent(s)
	called := wellKnown.Has(r.of.Own) && r.of.Kind != KindParameter // a parameter's text praises its values
	if !saysNear(all, i, preferring) || !called && absent.name == "" && !s.ofAnyTool() {
		return verdict{}
	}
	return verdict{confidence: 0.65, tools: named(absent)}
}

// ofAnyTool: "all other tools", "any other server".
func (s *sentence) ofAnyTool() bool {
	return s.some(func(j int) bool {
		noun := s.text(j + 2)
		return universal[s.text(j)] && s.text(j+1) == "other" && (tools[noun] || noun == "server" || noun == "servers")
	})
}

// anyAbsent returns the first tool that the server lacks, or well-known name.
func (r *reader) anyAbsent(s *sentence) reference {
	for i, t := range s.Tokens {
		if t.Kind == words.Word || t.Kind == words.Quoted {
			if ref := (reference{name: t.Raw, at: i}); wellKnown.Has(t.Raw) && !r.isOwn(t.Raw) && !r.of.Tools.Has(t.Raw) {
				return ref
			}
		}
	}
	return r.absent(s)
}

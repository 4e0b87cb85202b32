package rules

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// Sensitive reports whether the rules know a path, so that it is never noise.
func Sensitive(name string) bool {
	_, ok := places.Locate(name)
	return ok
}

// speaks reports whether a declaration mentions one of the topics. A topic of several words needs
// all of them, anywhere.
func speaks(d scope.Declaration, topics []string) bool {
	return slices.ContainsFunc(topics, func(topic string) bool {
		for word := range strings.FieldsSeq(topic) {
			if !d.Mentions(word) {
				return false
			}
		}
		return true
	})
}

// unasked reports whether a read of a routine file is ordinary: package managers read it when they start the
// server or check for updates, and so do HTTP clients before they connect or send.
func unasked(in Input, e profile.Effect) bool {
	if !asked(e.Phase) {
		return true
	}
	return slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
		talks := other.Kind == profile.KindConnect || other.Kind == profile.KindSend
		return other.Capability == e.Capability && other.Phase == e.Phase &&
			(talks && (outward(other) || other.Protocol == "tcp") || other.Kind == profile.KindExec) ||
			e.Capability.Kind == report.CapabilityServer && other.Kind == profile.KindExec && asked(other.Phase) && other.Error == "" &&
				pkgmanager.Serves(other.Path) // a call has started it, and it goes on
	})
}

package subject

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// Changed is new with those of its containers that old does not have: what an update
// brings in. An update of anything else brings in nothing, so that whoever scales or
// labels what is there, or lets go of it, is never in the way of a verdict that came
// later.
//
// The name of a container does not count, nor the labels or the nodes of the object,
// although a policy may select by them: what runs is what ran. Pods that are made of
// the object anew are asked about when they are created, with what they are then.
func Changed(old, new gate.Subject) gate.Subject {
	changed := new
	changed.Containers = slices.DeleteFunc(slices.Clone(new.Containers), func(c gate.Container) bool {
		return slices.ContainsFunc(old.Containers, func(o gate.Container) bool { return same(o, c) })
	})
	return changed
}

// same tells whether two containers run the same. Whether they do so before, beside or
// after others does not matter; that an image is run which was only mounted does. Of
// what has no image it is not known.
func same(a, b gate.Container) bool {
	return a.Image == b.Image && a.Image != "" && (a.Role == gate.RoleImageVolume) == (b.Role == gate.RoleImageVolume) &&
		slices.Equal(a.Command, b.Command) && slices.Equal(a.Args, b.Args)
}

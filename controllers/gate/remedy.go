package gate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// maxPasted bounds suggested command lines, in bytes.
const maxPasted = 200

// remedy says what to do, with a command to paste if there is one. It is never cut: half a
// command is useless.
func (d *decider) remedy(o Opinion, read *image) string {
	switch {
	case o.Exception != nil, o.Action == v1alpha1.ActionAllow:
		return ""
	case o.Policy.Invalid != "":
		return "correct the policy"
	}
	switch o.Reason {
	case v1alpha1.GateFailed:
		return show(o.Verdict) + ", and run an image that passes"
	case v1alpha1.GateDrifted:
		return fmt.Sprintf("see \"kubectl mcpaudit diff %s -n %s\", and approve the change if it is right", o.Verdict.Audit.Name, o.Verdict.Audit.Namespace)
	case v1alpha1.GateInconclusive, v1alpha1.GateStale, v1alpha1.GatePassed:
		return show(o.Verdict)
	case v1alpha1.GateOtherPlatform:
		return d.pinPods(o.Verdict)
	case v1alpha1.GateNoDigest:
		return pin(o)
	case v1alpha1.GateAltered:
		return o.Alteration.Fix
	case v1alpha1.GateLittleExercised:
		return "have it audited with the defaults of spec.probe and spec.sandbox"
	case v1alpha1.GateWeaklyExercised, v1alpha1.GateExposureUnknown, v1alpha1.GateExposed:
		return short(o)
	case v1alpha1.GateOtherEnvironment:
		return show(o.Verdict) + ", and give the container the same env and workingDir, or have it audited without"
	case v1alpha1.GateOtherCommand:
		if !isComparable(o.Container) {
			return show(o.Verdict) + ", and run it by words that are given"
		}
	}
	if read.err != nil {
		return "name one"
	}
	return d.audit(o)
}

// pinPods tells how to pin the Pods to the audited platform.
func (d *decider) pinPods(v *Verdict) string {
	if d.subject.Architecture == v.Architecture {
		return "pin its Pods to kubernetes.io/os linux as well"
	}
	return fmt.Sprintf("pin its Pods to kubernetes.io/arch %s by nodeSelector", excerpt.Line(v.Architecture, 32))
}

// short returns the remedy for a verdict that falls short of a policy's bounds.
func short(o Opinion) string {
	switch {
	case o.Reason == v1alpha1.GateExposed:
		return show(o.Verdict) + ", which says which of its tools do, and run a server that enables less"
	case o.Reason == v1alpha1.GateExposureUnknown:
		return "have it audited again, with the defaults of spec.probe and time for all of it"
	case o.Verdict.Assurance.Level == "":
		return "have it audited again"
	}
	return show(o.Verdict) + ", which says what more of it has to be exercised"
}

// pin returns the image by the digest of its verdict.
func pin(o Opinion) string {
	switch {
	case o.Verdict == nil:
		return "pin it by the digest that was audited"
	case len(o.Verdict.Digests) == 0:
		return show(o.Verdict) + ", which tells how to have its digest audited"
	}
	name, _, _ := strings.Cut(o.Container.Image, "@")
	return fmt.Sprintf("pin it: image: %s@%s", name, o.Verdict.Digests[0])
}

// show returns the command that shows an audit.
func show(v *Verdict) string {
	return fmt.Sprintf("see \"kubectl mcpaudit show %s -n %s\"", v.Audit.Name, v.Audit.Namespace)
}

// audit returns the command that audits a container where the verdict counts.
func (d *decider) audit(o Opinion) string {
	command, where := "kubectl mcpaudit run --image "+o.Container.Image, ", in a namespace that the policy trusts"
	own := &Verdict{Audit: types.NamespacedName{Namespace: d.subject.Namespace}}
	if o.Policy.Trusts(own, d.subject.Namespace, d.facts) {
		command, where = command+" -n "+excerpt.Line(d.subject.Namespace, 63), ""
	}
	words, ok := pasted(o.Container)
	if !ok {
		return "have it audited with the same command and args" + where
	}
	return fmt.Sprintf("have it audited, as by \"%s\"%s", command+words, where)
}

// pasted quotes a container's command line for a shell; ok is false if the command cannot take
// it or it is too long for a sentence.
func pasted(container Container) (text string, ok bool) {
	if len(container.Command)+len(container.Args) == 0 {
		return "", true
	}
	if len(container.Command) == 0 || !isComparable(container) { // args alone follow an unknown entrypoint
		return "", false
	}
	text = " --"
	for _, word := range slices.Concat(container.Command, container.Args) {
		if excerpt.Line(word, maxPasted) != word || strings.ContainsAny(word, "'\"`") || len(text) > maxPasted {
			return "", false
		}
		if word == "" || strings.Trim(word, bare) != "" {
			word = "'" + word + "'"
		}
		text += " " + word
	}
	return text, len(text) <= maxPasted
}

// bare are the characters without special meaning in any shell.
const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

package gate_test

import (
	"fmt"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// BenchmarkDecide is flat in the verdicts that there are, each on an image of its own.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{0, 100, 5_000, 50_000} {
		b.Run(fmt.Sprintf("verdicts=%d", n), func(b *testing.B) {
			verdicts := make([]*gate.Verdict, n)
			for i := range verdicts {
				verdicts[i] = verdictOf(fmt.Sprint("v", i), func(v *gate.Verdict) {
					v.Digests, v.ImageID = []v1alpha1.Digest{digest(3*i + 1), digest(3*i + 2)}, digest(3*i+3)
					v.Image = fmt.Sprintf("registry.example/notes%d:1", i)
				})
			}
			subject := containers(runs("registry.example/notes7:1"), runs("x@"+string(digest(22))), runs("registry.example/nobody:1", "node"))
			decide(b, subject, factsOf(policyOf(), verdicts...))
		})
	}
}

// BenchmarkDecideOneImage has all verdicts on one image, by audits of a namespace each.
func BenchmarkDecideOneImage(b *testing.B) {
	for _, trust := range []v1alpha1.AuditNamespaces{v1alpha1.AuditsSame, v1alpha1.AuditsAll} {
		for _, n := range []int{100, 5_000, 50_000} {
			b.Run(fmt.Sprintf("trust=%s/verdicts=%d", trust, n), func(b *testing.B) {
				verdicts := make([]*gate.Verdict, n)
				for i := range verdicts {
					verdicts[i] = verdictOf("notes", by(fmt.Sprint("team", i)))
				}
				policy := policyOf(trusting(v1alpha1.Trust{AuditNamespaces: trust}))
				decide(b, containers(runs(tag), runs(tag, "sh")), factsOf(policy, verdicts...))
			})
		}
	}
}

// BenchmarkDecideContainers is linear in the containers, each with a command of its own.
func BenchmarkDecideContainers(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("containers=%d", n), func(b *testing.B) {
			subject := containers()
			for i := range n {
				subject.Containers = append(subject.Containers, runs(tag, fmt.Sprint("c", i)))
			}
			verdicts := make([]*gate.Verdict, 1_000)
			for i := range verdicts {
				verdicts[i] = verdictOf(fmt.Sprint("v", i))
			}
			decide(b, subject, factsOf(policyOf(), verdicts...))
		})
	}
}

func decide(b *testing.B, subject gate.Subject, facts gate.Facts) {
	b.ReportAllocs()
	for b.Loop() {
		gate.Decide(subject, facts)
	}
}

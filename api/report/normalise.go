package report

import "time"

// Normalise makes a report encode the same after a round trip: times in UTC
// with microseconds (what metav1.MicroTime keeps), and empty lists as [] where
// readers look for them.
func (r *Report) Normalise() {
	r.StartTime, r.EndTime = micro(r.StartTime), micro(r.EndTime)
	for i := range r.Findings {
		for j := range r.Findings[i].Evidence {
			r.Findings[i].Evidence[j].Time = micro(r.Findings[i].Evidence[j].Time)
		}
	}
	for _, f := range r.Findings {
		if f.Suppressed != nil {
			f.Suppressed.Until = micro(f.Suppressed.Until)
		}
	}
	r.Findings = present(r.Findings)
	r.Errors = present(r.Errors)
	r.Profile.Capabilities = present(r.Profile.Capabilities)
	r.Server.Command = present(r.Server.Command)
	for _, items := range []*[]Item{&r.Manifest.Tools, &r.Manifest.Resources, &r.Manifest.ResourceTemplates, &r.Manifest.Prompts} {
		*items = present(*items)
	}
}

func micro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

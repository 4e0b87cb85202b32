package report

// Normalise makes a report encode the same after a round trip: times as At has them, and
// empty lists as [] where readers look for them.
func (r *Report) Normalise() {
	r.StartTime, r.EndTime = At(r.StartTime.Time), At(r.EndTime.Time)
	for i := range r.Findings {
		f := &r.Findings[i]
		for j := range f.Evidence {
			f.Evidence[j].Time = At(f.Evidence[j].Time.Time)
		}
		if f.Suppressed != nil {
			f.Suppressed.Until = At(f.Suppressed.Until.Time)
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

func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

package rules

import (
	"regexp"
	"testing"
)

// maxDescribed is how long the description of a rule may be, in bytes.
const maxDescribed = 1000

// Every rule says all that whoever has its finding wants to know.
func TestMetadata(t *testing.T) {
	form := regexp.MustCompile(`^MCPA-[A-Z]+-[0-9]{3}$`)
	ids, titles := map[string]bool{}, map[string]bool{}
	for _, r := range All() {
		for field, text := range map[string]string{
			"title": r.Title, "description": r.Description, "fix": r.Fix, "expected false positives": r.Expected, "mitigation": r.Mitigation,
		} {
			if text == "" {
				t.Errorf("%s has no %s", r.ID, field)
			}
		}
		if len(r.Description) > maxDescribed {
			t.Errorf("the description of %s has %d characters: severities and exempt take what a list says better", r.ID, len(r.Description))
		}
		if !form.MatchString(r.ID) || ids[r.ID] || titles[r.Title] || r.Severity.Rank() < 0 {
			t.Errorf("%s, %q, %s: the id is not of the form, the id or the title is another rule's, or the severity is none", r.ID, r.Title, r.Severity)
		}
		if len(r.References) == 0 {
			t.Errorf("%s refers to no other catalogue", r.ID)
		}
		ids[r.ID], titles[r.Title] = true, true
	}
}

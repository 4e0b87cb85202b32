package poison

import "testing"

// What is poisoned is found in each language, and what is honest is spared.
func TestTongues(t *testing.T) {
	var texts map[string]struct{ Poisoned, Honest []string }
	testdata(t, "tongues.yaml", &texts)
	for _, tongue := range tongues[:len(tongues)-1] {
		set, ok := texts[tongue.name]
		if !ok || len(set.Poisoned) < 8 || len(set.Honest) < 8 {
			t.Errorf("%s: %d poisoned and %d honest texts", tongue.name, len(set.Poisoned), len(set.Honest))
		}
		for _, text := range set.Poisoned {
			if len(Read(text, clock)) == 0 {
				t.Errorf("%s: nothing is found in %q", tongue.name, text)
			}
		}
		for _, text := range set.Honest {
			for _, f := range Read(text, clock) {
				t.Errorf("%s: %s in the honest %q", tongue.name, f.Technique, f.Quote)
			}
		}
	}
}

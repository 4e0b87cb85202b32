package attack

import "testing"

// TestGuessable: who counts sessions, or takes the time for an id, lets the next be guessed; what is random does not.
func TestGuessable(t *testing.T) {
	for name, tc := range map[string]struct {
		ids  []string
		want bool
	}{
		"a count":             {[]string{"9", "10", "11"}, true},
		"a count with a name": {[]string{"session-1009", "session-1010", "session-1011"}, true},
		"a time":              {[]string{"s1732751999998-a", "s1732752000001-a", "s1732752000004-a"}, true},
		"a time and more":     {[]string{"1732751999998-x81", "1732752000001-q02", "1732752000004-zz7"}, false},
		"random":              {[]string{"4be0643f-1d98-573b-97cd-ca98a65347dd", "4be0643f-1d98-573b-97cd-ca98a65347de", "0f"}, false},
		"random digits":       {[]string{"8412099431", "1209943184", "9943184120"}, false},
		"one session":         {[]string{"1", "1", "1"}, false},
		"two sessions":        {[]string{"1", "2"}, false},
		"none":                {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Posture{Sessions: tc.ids}).Guessable(); got != tc.want {
				t.Errorf("Guessable(%q) = %v, want %v", tc.ids, got, tc.want)
			}
		})
	}
}

package note

import "testing"

func TestFormat(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"trimmed", "\n  a note \n\n", "a note"},
		{"line ends", "a  \nb\t\r\nc", "a\nb\nc"},
		{"tight heading", "#Title\n##Part", "# Title\n## Part"},
		{"good heading", "# Title", "# Title"},
		{"seven signs are no heading", "#######a", "#######a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Format(tc.in); got != tc.want {
				t.Errorf("Format(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

package ptrace

import "testing"

// TestY2ProgramsOfTheirArguments: scripts, descriptors and lists that are cut are what was asked for.
func TestY2ProgramsOfTheirArguments(t *testing.T) {
	for _, tc := range []struct {
		printed, name string
		argv          []string
		same          bool
	}{
		{`"/bin/sh", ["sh", "-c", "exit"]`, "/bin/sh", []string{"sh", "-c", "exit"}, true},
		{`"/bin/sh", ["sh", "-c", "exit"]`, "/bin/sh", []string{"sh", "-c", "id"}, false},
		{`"/bin/sh", ["sh", "-c", "exit"]`, "/bin/id", []string{"sh", "-c", "exit"}, false},
		{`"/bin/sh", ["sh"]`, "/bin/sh", []string{"sh", "-c", "id"}, false},
		{`"/bin/sh", NULL`, "/bin/sh", []string{""}, true},
		{`"/bin/sh", []`, "/bin/sh", []string{""}, true},
		{`"/bin/sh", []`, "/bin/sh", []string{"id"}, false},
		{`"/a/script", ["script", "x", "y"]`, "/a/script", []string{"/bin/sh", "/a/script", "x", "y"}, true},
		{`"/a/script", ["script"]`, "/a/script", []string{"/usr/bin/env", "node", "/a/script"}, true},
		{`"/a/script", ["script", "x"]`, "/a/script", []string{"/bin/sh", "-c", "id", "/a/script", "x"}, false},
		{`"script", ["script", "x"]`, "/dev/fd/5/script", []string{"/bin/sh", "/dev/fd/5/script", "x"}, true},
		{`"", ["script"]`, "/dev/fd/5", []string{"script"}, true},
		{`"/dev/fd/5", ["script"]`, "/dev/fd/5", []string{"script"}, true},
		{`"/x\"y", ["\n"]`, "/x\"y", []string{"\n"}, true},
	} {
		if got := isOf([]byte(tc.printed), tc.name, tc.argv); got != tc.same {
			t.Errorf("%s, of %q %q: %t", tc.printed, tc.name, tc.argv, got)
		}
	}
}

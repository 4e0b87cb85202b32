package trace

import (
	"fmt"
	"strings"
	"testing"
)

// TestMkdirBehindALink: behind a link, ".." leads elsewhere: the directory that was made is not the one that the name seems to have.
func TestMkdirBehindALink(t *testing.T) {
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"a link, perhaps": {[]string{`mkdir("/pkg/lnk/../../etc", 0777) = 0 <0.000001>`}, "/pkg/lnk/../../etc"},
		"a directory":     {[]string{`openat(AT_FDCWD</>, "/pkg/src/a.py", O_RDONLY) = 3</pkg/src/a.py> <0.000001>`, `mkdir("/pkg/src/../data", 0777) = 0 <0.000001>`}, "/pkg/data"},
		"from there":      {[]string{`chdir("/pkg/lnk/../..") = 0 <0.000001>`, `mkdir("etc", 0777) = 0 <0.000001>`}, "/pkg/lnk/../../etc"},
		"no link":         {[]string{`mkdir("/pkg/data", 0777) = 0 <0.000001>`}, "/pkg/data"},
	} {
		for i := range tc.lines {
			tc.lines[i] = fmt.Sprintf("5 2.%06d %s", i, tc.lines[i])
		}
		got, _ := decodeLines(t, tc.lines...)
		if len(got) == 0 || !strings.Contains(got[len(got)-1], fmt.Sprintf("path=%q", tc.want)) {
			t.Errorf("%s: events %q, want %s made", name, got, tc.want)
		}
	}
}

package audit

import (
	"slices"
	"strings"
	"testing"
)

// The directories that a server is started for are those that its operator names.
func TestBound(t *testing.T) {
	for command, want := range map[string]string{
		"node /opt/fs/index.js /srv/notes /srv/more":                "/srv/notes /srv/more",
		"server --root=/srv/notes/ --port 80":                       "/srv/notes",
		"env PYTHONPATH=/opt/py python3 -m server --dir /srv/notes": "/srv/notes",
		"node /opt/fs/index.js /opt/fs":                             "",
		"/opt/server / /etc /usr/share/x":                           "",
		"node /tmp/fs/index.js /tmp":                                "/tmp",
		"server notes ../x":                                         "",
	} {
		p := Plan{Command: strings.Fields(command)}
		if got := strings.Join(p.bound(), " "); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if got := (Plan{Command: []string{"server"}, Env: []string{"DATA_DIR=/data", "LEVEL=1"}}).bound(); !slices.Equal(got, []string{"/data"}) {
		t.Errorf("of the environment: %q", got)
	}
}

// Links and siblings are planted at what tools keep to, and not at what everybody uses.
func TestLures(t *testing.T) {
	bases := []string{"/srv/notes", "/tmp", "/etc/notes", "/app"}
	for command, want := range map[string]string{
		"server":                "/srv/notes /app",
		"server /tmp":           "/srv/notes /tmp /app",
		"node /app/lib/main.js": "/srv/notes",
	} {
		if got := strings.Join((Plan{Command: strings.Fields(command)}).lures(bases), " "); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

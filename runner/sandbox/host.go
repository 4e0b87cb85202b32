package sandbox

import (
	"math/rand/v2"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The parts of common host names.
var (
	people   = []string{"alex", "anna", "chris", "david", "jordan", "julia", "maria", "martin", "sam", "thomas"}
	machines = []string{"desktop", "laptop", "latitude", "pc", "precision", "thinkpad", "workstation", "xps13"}
)

// newHost returns a name for the machine that the server seems to run on.
func newHost() string {
	//nolint:gosec // it has to be unlike the last one, no more
	return people[rand.IntN(len(people))] + "-" + machines[rand.IntN(len(machines))]
}

// nameHost sets the host name, and writes it where programs look for it, unless an earlier run did, or the
// file cannot be written.
func (r *root) nameHost(name string, again bool) error {
	former, err := os.Hostname()
	if err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(name)); err != nil || again || r.readOnly != nil {
		return err
	}
	if err := r.place("/etc/hostname", []byte(name+"\n")); err != nil {
		return err
	}
	known, err := os.ReadFile("/etc/hosts")
	if err != nil {
		known = []byte("127.0.0.1\tlocalhost\n")
	}
	return r.place("/etc/hosts", []byte(renamed(string(known), former, name)))
}

// renamed returns a table of hosts (hosts(5)) in which the machine has another name.
func renamed(hosts, former, name string) string {
	var text strings.Builder
	named := false
	for line := range strings.Lines(hosts) {
		fields := strings.Fields(line)
		for i, field := range fields {
			if i > 0 && field == former {
				fields[i], named = name, true
			}
		}
		text.WriteString(strings.Join(fields, " ") + "\n")
	}
	if !named {
		text.WriteString("127.0.1.1 " + name + "\n")
	}
	return text.String()
}

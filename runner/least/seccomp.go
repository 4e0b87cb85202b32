package least

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// The actions and comparisons of the OCI runtime specification and libseccomp (seccomp_rule_add(3)).
const (
	allow       = "SCMP_ACT_ALLOW"
	refuse      = "SCMP_ACT_ERRNO"
	equal       = "SCMP_CMP_EQ"
	notEqual    = "SCMP_CMP_NE"
	maskedEqual = "SCMP_CMP_MASKED_EQ"
)

// enosys is ENOSYS on amd64 and arm64 (errno(3)): as if the kernel had no such call.
const enosys = 38

// profile is LinuxSeccomp of the OCI runtime specification. Comment is an additional field,
// which containerd, CRI-O and runc ignore.
type profile struct {
	Comment       []string `json:"comment,omitempty"`
	DefaultAction string   `json:"defaultAction"`
	Syscalls      []rule   `json:"syscalls"`
}

type rule struct {
	Names    []string   `json:"names"`
	Action   string     `json:"action"`
	ErrnoRet uint       `json:"errnoRet,omitempty"`
	Args     []argument `json:"args,omitempty"`
}

type argument struct {
	Index    uint   `json:"index"`
	Value    uint64 `json:"value"`
	ValueTwo uint64 `json:"valueTwo,omitempty"`
	Op       string `json:"op"`
}

//go:embed default.txt
var defaults string

// allowedByDefault are the calls that the runtime's own profile allows.
func allowedByDefault() []string {
	var all []string
	for line := range strings.Lines(defaults) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// The flags of clone(2) that create namespaces, and the one that creates a thread.
const (
	cloneNamespaces = 0x7e020000
	cloneThread     = 0x00010000
)

// domains are the numbers of the address families (socket(2)).
var domains = map[string]uint64{"unix": 1, "inet": 2, "inet6": 10, "netlink": 16, "packet": 17, "alg": 38}

const vsock = 40

// personalities has those that runtimes allow: see default.txt.
var personalities = []uint64{0, 8, 0x20000, 0x20008, 0xffffffff}

// seccomp makes the profile: the runtime's default without calls that were observed to be unused.
func seccomp(b basis) profile {
	taken, what := b.taken()
	names := slices.DeleteFunc(allowedByDefault(), func(name string) bool { return slices.Contains(taken, name) })
	p := profile{DefaultAction: refuse, Syscalls: []rule{{Names: names, Action: allow}}}

	clone := argument{Index: 0, Value: cloneNamespaces, Op: maskedEqual}
	if !b.needs.Processes {
		clone.Value, clone.ValueTwo = clone.Value|cloneThread, cloneThread
	}
	p.Syscalls = append(p.Syscalls,
		rule{Names: []string{"clone"}, Action: allow, Args: []argument{clone}},
		// As in the audit, there is neither clone3, whose flags no filter can read and for which libc falls
		// back to clone, nor a call whose work no tracer sees.
		rule{Names: []string{"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register",
			"io_setup", "io_submit", "io_destroy", "io_cancel", "io_getevents", "io_pgetevents"}, Action: refuse, ErrnoRet: enosys})
	p.Syscalls = append(p.Syscalls, b.sockets()...)
	if !slices.Contains(b.needs.Unmade, "personality") {
		for _, value := range personalities {
			p.Syscalls = append(p.Syscalls, rule{Names: []string{"personality"}, Action: allow, Args: []argument{{Value: value, Op: equal}}})
		}
	}
	b.note("seccomp: the runtime's default without what was never seen: %s.", strings.Join(what, ", "))
	b.note("seccomp knows neither paths nor hosts nor programs, and what the tracer does not count (reading, writing, memory, time) is as in the runtime's default.")
	b.note("ptrace and its like are refused, and io_uring, AIO and clone3 are not there: so it was in the audit.")
	return p
}

// taken returns the calls of the families that were watched completely and never used.
func (b basis) taken() (calls, what []string) {
	if len(b.needs.Calls) == 0 {
		return nil, nil
	}
	watched := words.SetOf(b.needs.Unmade...)
	if b.needs.Processes {
		delete(watched, "fork") // a fork may be a clone without CLONE_THREAD
	}
	for _, f := range syscalls.Families() {
		if !slices.ContainsFunc(f.Calls, func(name string) bool { return !watched[name] }) {
			calls, what = append(calls, f.Calls...), append(what, f.Name)
		}
	}
	if watched["socket"] {
		what = append(what, "sockets")
	} else if !slices.Contains(b.needs.Sockets, "other") {
		what = append(what, fmt.Sprintf("sockets other than %s", strings.Join(slices.Sorted(maps.Keys(b.domains())), ", ")))
	}
	return calls, what
}

// domains returns the domains of the sockets that the server made. A libc looks names up over inet or inet6, and lists
// interfaces over netlink before: with one of these, another node may need the others.
func (b basis) domains() map[string]uint64 {
	all := map[string]uint64{}
	for _, used := range b.needs.Sockets {
		names := []string{used}
		if used == "inet" || used == "inet6" {
			names = []string{"inet", "inet6", "netlink", "unix"}
		}
		for _, name := range names {
			if number, known := domains[name]; known {
				all[name] = number
			}
		}
	}
	return all
}

// sockets allows the families that the server used.
func (b basis) sockets() []rule {
	if slices.Contains(b.needs.Unmade, "socket") {
		return nil
	}
	if slices.Contains(b.needs.Sockets, "other") || len(b.needs.Sockets) == 0 {
		return []rule{{Names: []string{"socket"}, Action: allow, Args: []argument{{Value: vsock, Op: notEqual}}}}
	}
	var rules []rule
	all := b.domains()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		rules = append(rules, rule{Names: []string{"socket"}, Action: allow, Args: []argument{{Value: all[name], Op: equal}}})
	}
	return rules
}

func seccompJSON(b basis) (string, error) {
	p := seccomp(b)
	p.Comment = append(b.origin(), b.notes.lines...)
	return indented(p)
}

func indented(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return string(text) + "\n", err
}

// seccompObject makes a SeccompProfile of the security-profiles-operator, which installs it on
// every node and reports the path in its status (operator/NAME.json, or
// operator/NAMESPACE/NAME.json where the kind is namespaced).
func seccompObject(b basis) (string, error) {
	p := seccomp(b)
	return b.object("security-profiles-operator.x-k8s.io/v1beta1", "SeccompProfile", map[string]any{
		"defaultAction": p.DefaultAction, "syscalls": p.Syscalls,
	})
}

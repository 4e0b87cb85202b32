// Command under runs a program under a seccomp profile of the OCI runtime specification,
// as a container runtime does, so that a server can be audited again under the policy
// that was made of its audit:
//
//	under PROFILE.json COMMAND [ARGUMENT...]
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
)

type profile struct {
	DefaultAction string
	Syscalls      []struct {
		Names    []string
		Action   string
		ErrnoRet uint32
		Args     []condition
	}
}

// condition compares an argument: see seccomp_rule_add(3).
type condition struct {
	Index           uint32
	Value, ValueTwo uint64
	Op              string
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: under PROFILE.json COMMAND [ARGUMENT...]")
	}
	log.Fatal(run(os.Args[1], os.Args[2:]))
}

// run becomes the command. It returns only an error.
func run(file string, command []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var p profile
	if err := json.Unmarshal(text, &p); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	program, err := p.filter()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	header := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]} //nolint:gosec // checked
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&header))); errno != 0 {
		return fmt.Errorf("install the filter: %w", errno)
	}
	runtime.KeepAlive(program)
	return fmt.Errorf("execute %s: %w", path, syscall.Exec(path, command, os.Environ()))
}

// filter compiles the profile for this architecture; names that it does not have are
// left out, as runc does.
func (p profile) filter() ([]unix.SockFilter, error) {
	program := []unix.SockFilter{load(0)}
	for _, rule := range p.Syscalls {
		action, err := answer(rule.Action, rule.ErrnoRet)
		if err != nil {
			return nil, err
		}
		for _, name := range rule.Names {
			number, ok := ptrace.Number(name)
			if !ok {
				continue
			}
			var body []unix.SockFilter
			for _, c := range rule.Args {
				test, err := c.test()
				if err != nil {
					return nil, err
				}
				body = append(body, test...)
			}
			// A test that fails jumps behind the answer.
			for i := range body {
				if body[i].Code == unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K {
					body[i].Jf = uint8(len(body) - i) //nolint:gosec // a few
				}
			}
			body = append(body, end(action), load(0))
			program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: uint8(len(body))}) //nolint:gosec // a few
			program = append(program, body...)
		}
	}
	action, err := answer(p.DefaultAction, 0)
	if program = append(program, end(action)); err == nil && len(program) > 4096 { // BPF_MAXINSNS
		err = fmt.Errorf("the filter has %d instructions, and at most 4096 are possible", len(program))
	}
	return program, err
}

// test goes on when the condition holds.
func (c condition) test() ([]unix.SockFilter, error) {
	mask, want := ^uint64(0), c.Value
	switch c.Op {
	case "SCMP_CMP_EQ":
	case "SCMP_CMP_MASKED_EQ":
		mask, want = c.Value, c.ValueTwo
	default:
		return nil, fmt.Errorf("cannot compare by %s", c.Op)
	}
	var all []unix.SockFilter
	for half := range uint32(2) {
		shift := 32 * half
		all = append(all, load(16+8*c.Index+4*half),
			unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: uint32(mask >> shift)},
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(want >> shift)})
	}
	return all, nil
}

func answer(action string, errno uint32) (uint32, error) {
	switch action {
	case "SCMP_ACT_ALLOW":
		return unix.SECCOMP_RET_ALLOW, nil
	case "SCMP_ACT_ERRNO":
		if errno == 0 {
			errno = uint32(unix.EPERM)
		}
		return unix.SECCOMP_RET_ERRNO | errno, nil
	}
	return 0, fmt.Errorf("there is no action %s", action)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

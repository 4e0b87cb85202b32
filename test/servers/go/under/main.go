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

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/seccomp"
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
	if err := seccomp.Install(program, unix.SECCOMP_FILTER_FLAG_TSYNC); err != nil {
		return err
	}
	return fmt.Errorf("execute %s: %w", path, syscall.Exec(path, command, os.Environ()))
}

// filter compiles the profile for this architecture; names that it does not have are
// left out, as runc does.
func (p profile) filter() ([]bpf.Instruction, error) {
	machine, err := arch.GetInfo(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	program := []bpf.Instruction{seccomp.Load(seccomp.OffsetNumber)}
	for _, rule := range p.Syscalls {
		action, err := answer(rule.Action, rule.ErrnoRet)
		if err != nil {
			return nil, err
		}
		for _, name := range rule.Names {
			number, ok := machine.SyscallNames[name]
			if !ok {
				continue
			}
			var body []bpf.Instruction
			for _, c := range rule.Args {
				test, err := c.test()
				if err != nil {
					return nil, err
				}
				body = append(body, test...)
			}
			// A test that fails jumps behind the answer.
			for i := range body {
				if jump, ok := body[i].(bpf.JumpIf); ok {
					jump.SkipFalse = uint8(len(body) - i) //nolint:gosec // a few
					body[i] = jump
				}
			}
			body = append(body, bpf.RetConstant{Val: action}, seccomp.Load(seccomp.OffsetNumber))
			program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(number), SkipFalse: uint8(len(body))}) //nolint:gosec // a few
			program = append(program, body...)
		}
	}
	action, err := answer(p.DefaultAction, 0)
	return append(program, bpf.RetConstant{Val: action}), err
}

// test goes on when the condition holds.
func (c condition) test() ([]bpf.Instruction, error) {
	mask, want := ^uint64(0), c.Value
	switch c.Op {
	case "SCMP_CMP_EQ":
	case "SCMP_CMP_MASKED_EQ":
		mask, want = c.Value, c.ValueTwo
	default:
		return nil, fmt.Errorf("cannot compare by %s", c.Op)
	}
	var all []bpf.Instruction
	for half := range uint32(2) {
		shift := 32 * half
		all = append(all, seccomp.Load(seccomp.OffsetArgument+8*c.Index+4*half),
			bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: uint32(mask >> shift)},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(want >> shift)})
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

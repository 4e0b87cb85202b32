package shim

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
)

// The descriptors of the child besides the standard ones.
const (
	barrierFD = 3 // one byte, ptrace.Stops, opens the barrier; end of file closes it for good
	statusFD  = 4 // a text says why the exec failed, end of file that it succeeded
)

// gated returns the Spawn of an audit Pod: it starts the process that becomes
// the server (self run with args) early, so that a tracer can attach to it.
func gated(self string, args []string) Spawn {
	return func(stdio []*os.File, env, arguments []string) (*StartBarrier, error) {
		barrierRead, barrierWrite, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("make the barrier: %w", err)
		}
		statusRead, statusWrite, err := os.Pipe()
		if err != nil {
			closeAll([]*os.File{barrierRead, barrierWrite})
			return nil, fmt.Errorf("make the barrier: %w", err)
		}
		process, err := os.StartProcess(self, slices.Concat([]string{self}, args, arguments), &os.ProcAttr{
			Env:   env,
			Files: append(append([]*os.File{}, stdio...), barrierRead, statusWrite),
			Sys:   &syscall.SysProcAttr{Setpgid: true},
		})
		closeAll([]*os.File{barrierRead, statusWrite})
		if err != nil {
			closeAll([]*os.File{barrierWrite, statusRead})
			return nil, fmt.Errorf("start the shim's child: %w", err)
		}
		pid := process.Pid
		abandon := func() {
			closeAll([]*os.File{barrierWrite, statusRead})
			_, _ = process.Wait() // it exits when its barrier closes
		}
		return &StartBarrier{PID: pid, Abandon: abandon, Open: func(stops ptrace.Stops) (int, error) {
			if err := openBarrier(barrierWrite, statusRead, stops); err != nil {
				_, _ = process.Wait() // it has said why it exits
				return 0, err
			}
			return pid, nil
		}}, nil
	}
}

// openBarrier lets the child continue and waits for its exec.
func openBarrier(barrier, status *os.File, stops ptrace.Stops) error {
	defer closeAll([]*os.File{barrier, status})
	if _, err := barrier.Write([]byte{byte(stops)}); err != nil {
		return fmt.Errorf("open the barrier: %w", err)
	}
	words, err := io.ReadAll(io.LimitReader(status, maxMessage/2))
	if err != nil {
		return fmt.Errorf("open the barrier: %w", err)
	}
	if len(words) > 0 {
		return errors.New(string(words))
	}
	return nil
}

// Child runs in the process that becomes the server: it waits at the barrier on its
// main thread (the caller has locked it), then executes the command. It returns, with
// the exit code, only when that failed.
func Child(command []string) int {
	barrier, status := os.NewFile(barrierFD, "barrier"), os.NewFile(statusFD, "status")
	unix.CloseOnExec(barrierFD)
	unix.CloseOnExec(statusFD)
	how := make([]byte, 1)
	if n, _ := barrier.Read(how); n != 1 {
		return ExitOrphaned
	}
	err := Execute(command, ptrace.Stops(how[0]))
	_, _ = io.WriteString(status, err.Error()) // there is no other place to report it
	return 127
}

// Execute replaces this process by the command, looked up in PATH, without any
// privilege, and with the stops that the tracer needs. It returns only an error,
// worded for the author of the command. The caller has locked the thread.
func Execute(command []string, stops ptrace.Stops) error {
	path, err := Lookup(command)
	if err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	if err := Confine(); err != nil {
		return err
	}
	if stops != ptrace.AtNone {
		if err := ptrace.Install(stops); err != nil {
			return err
		}
	}
	err = syscall.Exec(path, command, os.Environ())
	runtime.KeepAlive(command)
	return Explain(path, err)
}

// Lookup finds the program of a command as execvp(3) does. It rejects 32-bit
// programs: Confine would kill them for their first call, as if they had evaded.
func Lookup(command []string) (string, error) {
	if len(command) == 0 || command[0] == "" {
		return "", errors.New("there is no command to run")
	}
	path, err := exec.LookPath(command[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", Explain(command[0], err)
	}
	if narrow(path) {
		return "", fmt.Errorf("%s is a 32-bit program, which cannot be watched: use its 64-bit build", path)
	}
	return path, nil
}

// narrow reports whether a file is a 32-bit ELF program (elf(5), EI_CLASS).
func narrow(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false // executing it may still work: that needs no right to read
	}
	defer func() { _ = file.Close() }() // read only
	head := make([]byte, elf.EI_CLASS+1)
	_, err = io.ReadFull(file, head)
	return err == nil && string(head[:elf.EI_CLASS]) == elf.ELFMAG && elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS32
}

// Explain says why a program could not be executed (execve(2), ERRORS).
func Explain(path string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%q is not in PATH (%s)", path, os.Getenv("PATH"))
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(path); statErr == nil {
			return fmt.Errorf("%s exists, but the interpreter or loader that it names does not", path)
		}
		return fmt.Errorf("%s does not exist", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is not executable for this user", path)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is no program of this machine (wrong architecture, or no #! line)", path)
	default:
		return fmt.Errorf("execute %s: %w", path, err)
	}
}

// dropPrivileges makes sure that no exec gives the server a privilege that its
// container did not have. In a Pod the kubelet has done the same.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("drop the ambient capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	return nil
}

// replace sets variables in place of those with the same names; of several with one
// name the last counts.
func replace(env, variables []string) []string {
	for _, entry := range variables {
		name, _, _ := strings.Cut(entry, "=")
		env = slices.DeleteFunc(env, func(other string) bool { return strings.HasPrefix(other, name+"=") })
		env = append(env, entry)
	}
	return env
}

// merge appends the additions whose names are not set: the variables of the user
// and the image stay.
func merge(env, additions []string) []string {
	set := map[string]bool{}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		set[name] = true
	}
	for _, entry := range additions {
		if name, _, _ := strings.Cut(entry, "="); !set[name] {
			env = append(env, entry)
		}
	}
	return env
}

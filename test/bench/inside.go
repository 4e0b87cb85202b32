package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// stageServer runs this program as the process that becomes a traced server, like the shim's child
// in a Pod; stageOpens as a server that opens a file repeatedly.
const (
	stageServer = "bench-server"
	stageOpens  = "bench-opens"
)

// doorFD is the descriptor on which stageServer waits.
const doorFD = 3

// prepareServer prepares a server, and returns the function that runs it, which is measured.
func prepareServer(plan boxPlan) (func() error, error) {
	command := plan.Command
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if plan.Attach == nil {
		return cmd.Run, nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	filter := string(plan.Attach.Backend)
	cmd.Path, cmd.Args, cmd.Err = "/proc/self/exe", append([]string{command[0], stageServer, filter}, command...), nil
	cmd.ExtraFiles = []*os.File{read}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := trace.Attach(context.Background(), cmd.Process.Pid, *plan.Attach); err != nil {
		return nil, err
	}
	return func() error {
		_, err := write.Write([]byte{1})
		return errors.Join(err, cmd.Wait())
	}, nil
}

// become implements stageServer.
func become(args []string) error {
	if _, err := os.NewFile(doorFD, "door").Read(make([]byte, 1)); err != nil {
		return err
	}
	backend, command := plan.Tracer(args[0]), args[1:]
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	if backend == plan.TracerPtrace {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		if err := ptrace.Install(ptrace.AtCalls); err != nil {
			return err
		}
	}
	unix.CloseOnExec(doorFD)
	return syscall.Exec(path, command, os.Environ())
}

// opensPerCall is the number of openat calls of stageOpens per request.
const opensPerCall = 1000

func openServer(_ context.Context, dir string) (launch, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return launch{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return launch{}, err
	}
	file := filepath.Join(dir, "file")
	return launch{command: []string{self, stageOpens, file}, dir: dir}, os.WriteFile(file, nil, 0o644)
}

// opens implements stageOpens: it answers each request after opensPerCall calls of openat.
func opens(args []string) error {
	requests := bufio.NewScanner(os.Stdin)
	for requests.Scan() {
		var m struct {
			ID *int `json:"id"`
		}
		if err := json.Unmarshal(requests.Bytes(), &m); err != nil {
			return err
		}
		if m.ID == nil {
			continue
		}
		for range opensPerCall {
			fd, err := unix.Open(args[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			if err := unix.Close(fd); err != nil {
				return err
			}
		}
		if _, err := fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}\n", *m.ID); err != nil {
			return err
		}
	}
	return requests.Err()
}

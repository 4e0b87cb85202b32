package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/poll"
	"github.com/mcpaudit/mcpaudit/test/programs"
)

// The test binary plays all parts of an audit Pod, by the variable roleVar.
const (
	roleVar = "RUNNER_TEST_ROLE"
	podVar  = "RUNNER_TEST_POD"
	// patience bounds each wait of a test.
	patience = 4 * time.Minute
	// audited is the longest duration of an audit, beside others.
	audited = "3m"
)

// built is the directory of the target servers.
var built string

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "runner":
		main()
	case "kubelet":
		if err := kubelet(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "stateless":
		stateless()
	default:
		os.Exit(programs.Run(m, &built, "./test/servers/go/devices", "./test/servers/go/fetch", "./test/servers/go/honest", "./test/servers/go/leaky",
			"./test/servers/go/misbehave", "./test/servers/go/rugpull"))
	}
}

// pod holds what a test wants of the kubelet.
type pod struct {
	Command   []string
	ServerUID int
	// RunnerCaps are the capabilities of the runner's container.
	RunnerCaps []uintptr
	Timeout    string
	// Tracer, Transport, Port and Depth are those of the plan; Depth is Quick unless given.
	Tracer    plan.Tracer
	Transport report.Transport
	Port      int
	Depth     report.Depth
	// KillRunner, and the signal for the tracer: when the server has read its
	// first request.
	KillRunner bool
	// UserNamespace gives the Pod one, as hostUsers: false does.
	UserNamespace bool
	SignalTracer  syscall.Signal
	// Shown are directories that the server sees wherever they are.
	Shown []string
}

// ended holds what is left of the Pod.
type ended struct {
	Runner, Shim int
	// Log is the runner's stdout, Said its stderr.
	Log, Said, Termination string
	// Left are the command lines of processes that live on.
	Left []string
	// Socket: it was still there when the server ran.
	Socket bool
	// Traces are the files on the volume for them.
	Traces []string
}

// start runs a Pod in namespaces of its own, beside those of other tests: most of the time it waits.
func start(t *testing.T, p pod) ended {
	t.Helper()
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("a Pod has several uids: only root can make one")
	}
	servers, err := filepath.Abs(filepath.Join("..", "..", "test", "servers"))
	if err != nil {
		t.Fatal(err)
	}
	p.Shown = []string{built}
	if !p.UserNamespace { // its root is nobody here, and may not look into a checkout below /root
		p.Shown = append(p.Shown, servers)
	}
	spec, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), roleVar+"=kubelet", podVar+"="+string(spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
	}
	if p.UserNamespace {
		// As the kubelet maps a Pod's users: 65536 of them, and nobody of the host's.
		const first, size = 100000 + 65536, 65536
		ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: first, Size: size}}
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings, cmd.SysProcAttr.GidMappingsEnableSetgroups = ids, ids, true
		cmd.SysProcAttr.Credential = &syscall.Credential{} // root of the namespace
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var e ended
	if err := json.Unmarshal(stdout.Bytes(), &e); err != nil {
		t.Fatalf("%v: %s", err, stdout.String())
	}
	t.Logf("runner: %s", e.Said)
	return e
}

// kubelet is the first process of the Pod's namespaces: it makes the volumes and
// runs the containers as controllers/podspec describes them.
func kubelet() error {
	var p pod
	if err := json.Unmarshal([]byte(os.Getenv(podVar)), &p); err != nil {
		return err
	}
	const dir = "/mnt"
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"); err != nil {
		return err
	}
	if err := ownTemporaryFiles(p.Shown); err != nil {
		return err
	}
	for _, volume := range []string{"bin", "run", "home", "trace"} {
		path := filepath.Join(dir, volume)
		if err := os.Mkdir(path, 0o777); err != nil {
			return err
		}
		if err := os.Chmod(path, 0o777); err != nil {
			return err
		}
	}
	install := container{name: "/proc/self/exe", args: []string{"install", "--bin", dir + "/bin"}, caps: []uintptr{unix.CAP_NET_ADMIN}}
	if err := install.start(); err != nil {
		return err
	}
	if code := install.wait(); code != 0 {
		return fmt.Errorf("install: exit code %d: %s", code, install.stderr.String())
	}
	return p.run(dir)
}

// ownTemporaryFiles mounts memory where temporary files are: there is no container around the server, and other
// Pods run beside it. What is shown stays.
func ownTemporaryFiles(shown []string) error {
	files := make([]*os.File, len(shown))
	for i, path := range shown {
		var err error
		if files[i], err = os.Open(path); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=1777"); err != nil {
			return err
		}
	}
	for i, path := range shown {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", files[i].Fd()), path, "", unix.MS_BIND, ""); err != nil {
			return err
		}
		if err := files[i].Close(); err != nil {
			return err
		}
	}
	return nil
}

func (p pod) run(dir string) error {
	asked, err := json.Marshal(map[string]any{
		"timeout": p.Timeout, "failOn": "High", "command": p.Command, "tracer": p.Tracer, "transport": p.Transport, "port": p.Port,
		"probe": map[string]any{"depth": cmp.Or(p.Depth, report.DepthQuick)},
	})
	if err != nil {
		return err
	}
	termination := filepath.Join(dir, "termination-log")
	if err := os.WriteFile(termination, nil, 0o666); err != nil {
		return err
	}
	if err := os.Chmod(termination, 0o666); err != nil {
		return err
	}
	socket := dir + "/run/runner.sock"
	server := container{
		name: dir + "/bin/" + shimName, args: append([]string{"shim", "--socket", socket, "--"}, p.Command...),
		uid: p.ServerUID, env: []string{"HOME=/nonexistent"},
	}
	runner := container{
		name: "/proc/self/exe", caps: p.RunnerCaps, env: []string{plan.Variable + "=" + string(asked)},
		args: []string{"audit", "--socket", socket, "--home", dir + "/home", "--trace", dir + "/trace", "--termination-log", termination},
	}
	if err := server.start(); err != nil {
		return err
	}
	if err := runner.start(); err != nil {
		return err
	}
	var e ended
	if p.KillRunner || p.SignalTracer != 0 {
		if !poll.For(patience/4, func() bool {
			b, err := os.ReadFile(dir + "/trace/trace-1.txt")
			return err == nil && bytes.Contains(b, []byte("initialize"))
		}) {
			return errors.New("waited in vain for the handshake")
		}
		_, err := os.Lstat(socket)
		e.Socket = err == nil
		victim, signal := runner.cmd.Process.Pid, syscall.SIGKILL
		if !p.KillRunner {
			victim, signal = childOf(victim), p.SignalTracer
		}
		if err := syscall.Kill(victim, signal); err != nil {
			return err
		}
	}
	e.Runner, e.Shim = runner.wait(), server.wait()
	e.Log, e.Said = runner.stdout.String(), runner.stderr.String()
	message, err := os.ReadFile(termination)
	if err != nil {
		return err
	}
	e.Termination = string(message)
	e.Traces, _ = filepath.Glob(dir + "/trace/*")                                    // the pattern is well-formed
	poll.For(patience/4, func() bool { e.Left = others(); return len(e.Left) == 0 }) // the test looks at who is left
	return json.NewEncoder(os.Stdout).Encode(e)
}

// childOf returns the only child of a process: the tracer is the runner's.
func childOf(parent int) int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, file := range files {
		var child int
		if b, err := os.ReadFile(file); err == nil {
			if _, err := fmt.Sscan(string(b), &child); err == nil {
				return child
			}
		}
	}
	return 0 // ourselves and our group: the test fails
}

// others are the command lines of all processes but this one.
func others() []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var found []string
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && file != "/proc/1/cmdline" && len(b) > 0 {
			found = append(found, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return found
}

// container is a process with the capabilities of a container.
type container struct {
	name           string
	args, env      []string
	uid            int
	caps           []uintptr
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

// start runs it from a thread that has given up all other capabilities and the
// way back; the thread ends with the goroutine.
func (c *container) start() error {
	c.cmd = exec.Command(c.name, c.args...)
	c.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), roleVar + "=runner"}, c.env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.stdout, &c.stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(c.uid), Gid: uint32(c.uid)}}
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- func() error {
			kept := map[uintptr]bool{}
			for _, capability := range c.caps {
				kept[capability] = true
			}
			for capability := uintptr(0); capability <= unix.CAP_LAST_CAP; capability++ {
				if !kept[capability] {
					if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
						return err
					}
				}
			}
			if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
				return err
			}
			return c.cmd.Start()
		}()
	}()
	return <-result
}

func (c *container) wait() int {
	_ = c.cmd.Wait() // the code says it
	return c.cmd.ProcessState.ExitCode()
}

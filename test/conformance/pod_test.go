//go:build conformance

package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

const (
	roleVar = "CONFORMANCE_ROLE"
	podVar  = "CONFORMANCE_POD"
	// runnerID is the uid of the runner; that of the server is 0, as in most
	// images, without any capability.
	runnerID = 61713
	// podDir is the directory of the Pod's volumes.
	podDir = "/mnt"
)

// pod says what the Pod has to run.
type pod struct {
	Backend plan.Tracer
	Program string
	Attack  string
}

func (p pod) server() string { return filepath.Join(podDir, "bin", filepath.Base(p.Program)) }

// inPod audits a program in namespaces of its own, as cmd/runner does.
func inPod(t *testing.T, v variant, p program) outcome {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a Pod has several uids: only root can make one")
	}
	spec, err := json.Marshal(pod{Backend: v.backend, Program: p.path, Attack: p.attack})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), roleVar+"=kubelet", podVar+"="+string(spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var o outcome
	if err := json.Unmarshal(stdout.Bytes(), &o); err != nil {
		t.Fatalf("%v: %s; %s", err, stdout.String(), stderr.String())
	}
	return o
}

// play plays a part of the Pod; false when there is none to play.
func play(role string) (int, bool) {
	var code int
	var err error
	switch role {
	case "kubelet":
		err = kubelet()
	case "shim":
		if err = os.Setenv(roleVar, "child"); err != nil { // for the process that it makes
			break
		}
		code, err = shim.Serve(context.Background(), os.Args[1], os.Args[0], os.Args[2:])
	case "child":
		return shim.Child(os.Args[1:]), true
	case "runner":
		err = runner()
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		return max(code, 1), true
	}
	return code, true
}

func thePod() (p pod, err error) {
	err = json.Unmarshal([]byte(os.Getenv(podVar)), &p)
	return p, err
}

// kubelet is the first process of the Pod's namespaces.
func kubelet() error {
	p, err := thePod()
	if err != nil {
		return err
	}
	if err := p.volumes(); err != nil {
		return err
	}
	if err := sinkhole.Close(); err != nil {
		return err
	}
	socket := podDir + "/run/s"
	server := exec.Command("/proc/self/exe", socket, p.server())
	server.Env = []string{"PATH=" + os.Getenv("PATH"), roleVar + "=shim", "HOME=" + podDir + "/home"}
	server.Stderr = os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := contained(server); err != nil {
		return err
	}
	watcher := exec.Command("/proc/self/exe", socket)
	watcher.Env = []string{"PATH=" + os.Getenv("PATH"), roleVar + "=runner", podVar + "=" + os.Getenv(podVar)}
	watcher.Stdout, watcher.Stderr = os.Stdout, os.Stderr
	watcher.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: runnerID, Gid: runnerID}}
	if err := contained(watcher, unix.CAP_SYS_PTRACE, unix.CAP_DAC_READ_SEARCH); err != nil {
		return err
	}
	err = watcher.Wait()
	_ = server.Wait() // its code is the server's business
	return err
}

// volumes makes the Pod's file system: what the server changes goes to memory.
func (p pod) volumes() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", podDir, "tmpfs", 0, "mode=0755"); err != nil {
		return err
	}
	for _, volume := range []string{"bin", "run", "home", "trace", "layers"} {
		path := filepath.Join(podDir, volume)
		if err := errors.Join(os.Mkdir(path, 0o777), os.Chmod(path, 0o777)); err != nil {
			return err
		}
	}
	if err := unix.Mount(filepath.Dir(p.Program), podDir+"/bin", "", unix.MS_BIND, ""); err != nil {
		return err
	}
	for i, dir := range []string{"/etc", "/var", "/root", "/usr"} {
		layer := fmt.Sprintf("%s/layers/%d", podDir, i)
		if err := errors.Join(os.Mkdir(layer, 0o755), os.Mkdir(layer+"/upper", 0o755), os.Mkdir(layer+"/work", 0o755)); err != nil {
			return err
		}
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", dir, layer, layer)
		if err := unix.Mount("overlay", dir, "overlay", 0, options); err != nil {
			return fmt.Errorf("cover %s: %w", dir, err)
		}
	}
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777"); err != nil {
		return err
	}
	return unix.Mount("proc", "/proc", "proc", 0, "")
}

// contained starts a process with the capabilities of a container: those given,
// as ambient ones. It does so on a thread that gives up all others for good.
func contained(cmd *exec.Cmd, caps ...uintptr) error {
	kept := map[uintptr]bool{}
	for _, c := range caps {
		kept[c] = true
	}
	cmd.SysProcAttr.AmbientCaps = caps
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		result <- func() error {
			for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
				if kept[c] || len(caps) > 0 && (c == unix.CAP_SETUID || c == unix.CAP_SETGID) {
					continue
				}
				if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
					return err
				}
			}
			if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
				return err
			}
			return cmd.Start()
		}()
	}()
	return <-result
}

// runner is the container that watches.
func runner() error {
	p, err := thePod()
	if err != nil {
		return err
	}
	home := podDir + "/home"
	decoys, err := decoy.New(home, false)
	if err != nil {
		return err
	}
	if err := decoys.Plant(home, decoy.Shared); err != nil {
		return err
	}
	launcher := &shim.Launcher{Socket: os.Args[1], TraceDir: podDir + "/trace", Tracer: p.Backend, Env: decoys.Env()}
	o, err := watch(context.Background(), &spy{Launcher: launcher, attack: p.Attack, attached: p.Backend == plan.TracerStrace, file: podDir + "/trace/trace-1.txt"}, decoys, p.server(), "")
	_ = launcher.Close() // the shim sees it either way
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(o)
}

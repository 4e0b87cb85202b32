package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/harden"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The stages of the sandbox are this same program, executed again under these
// names: hidden subcommands.
const (
	stageOuter     = "sandbox-outer"
	stageEnter     = "sandbox-enter"
	stageInit      = "sandbox-init"
	stageSupervise = "sandbox-supervise"
	stageHold      = "sandbox-hold"
)

// self is this program for a stage that may not be able to go through the directories
// above it.
const self = "/proc/self/exe"

// exitBroken is the exit code of a stage that could not do its work; what it
// wrote to stderr says why. strace uses 1 for itself.
const exitBroken = 124

// The descriptors of the stages besides the standard ones.
const (
	specFD      = 3 // outer: the spec, then the calls of the server; it is at its end when the command line ends
	outerLinkFD = 4 // outer: the shim's end of the link
	capturesFD  = 5 // outer: what the sinkhole captures
	stateFD     = 6 // outer: where a copy of its mounts goes
	dialsFD     = 7 // outer: what asks for connections to the server
	leftFD      = 8 // outer: the mounts that an earlier run has left
	linkFD      = 3 // enter, init and supervise: the same
)

// Stage runs the stage that args name and returns its exit code; false when
// args name none. A program that uses this package calls it first of all, on its
// main thread, locked.
func Stage(args []string) (int, bool) {
	if len(args) == 0 {
		return 0, false
	}
	stages := map[string]func([]string) (int, error){stageOuter: outer, stageEnter: enter, stageInit: first, stageSupervise: supervise, stageHold: hold}
	run, ok := stages[args[0]]
	if !ok {
		return 0, false
	}
	// What the command line was started with, a descriptor of a directory say,
	// would lead the server out of its root. What a stage hands on it names.
	if err := unix.CloseRange(specFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		fmt.Fprintln(os.Stderr, "keep descriptors from the server:", err)
		return exitBroken, true
	}
	code, err := run(args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBroken, true
	}
	return code, true
}

// outer is the first process of the outer PID namespace. It closes the network,
// builds the server's root and runs the tracer. When the command line ends in
// any way, so does outer, and with it everything in its namespaces.
func outer([]string) (int, error) {
	runtime.LockOSThread()
	lifeline := os.NewFile(specFD, "lifeline")
	var s spec
	told := json.NewDecoder(lifeline)
	if err := told.Decode(&s); err != nil {
		return 0, fmt.Errorf("read the plan of the sandbox: %w", err)
	}
	answering := make(chan *sinkholeNetwork, 1)
	go follow(told, answering)
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return 0, fmt.Errorf("make the mounts private: %w", err)
	}
	network, err := closeNetwork(s)
	if err != nil {
		return 0, fmt.Errorf("close the network: %w", err)
	}
	defer network.end()
	answering <- network
	close(answering)
	dials, err := inherit(dialsFD)
	if err != nil {
		return 0, err
	}
	go serveDials(dials)
	// We and the tracer look processes up in /proc, which must be that of our namespace.
	if err := mountProc("/proc"); err != nil {
		return 0, err
	}
	mapped, err := prepare(s, network)
	if err != nil {
		return 0, fmt.Errorf("build the server's file system: %w", err)
	}
	return runTracer(s, s.ids(mapped))
}

// prepare builds the root that the server will see, or takes over that of an earlier
// run, and hands it on for the next. It makes our own files in it again: the server
// may have removed them. It reports whether the server's own id has the files.
func prepare(s spec, network *sinkholeNetwork) (owned bool, err error) {
	r := &root{dir: s.Mount, private: s.Private, sockets: s.Sockets}
	if s.BindOnly {
		r.readOnly = errors.New("overlays are not to be used: the server cannot change any file of the machine")
	}
	// What else the command names has no say: a link in a repository may lead anywhere.
	mapped := []string{s.Dir, s.Home}
	if s.Image != nil {
		mapped = nil // its files have their owners already
	}
	if r.owner, err = newOwner(mapped); err != nil {
		fmt.Fprintf(os.Stderr, "%s%s\n", notePrefix, r.owner.note(err))
	}
	if r.owner != nil && s.Image != nil {
		r.owner.uid, r.owner.gid = s.Image.UID, s.Image.GID
	}
	return r.owner != nil, r.furnish(s, network)
}

func (r *root) furnish(s spec, network *sinkholeNetwork) error {
	plant := s.Decoys.Plant
	var err error
	switch {
	case s.Again:
		err = attach(os.NewFile(leftFD, "state"), s.Mount)
		plant = s.Decoys.Replant
	case s.Image != nil:
		err = r.fromImage(*s.Image)
	default:
		err = r.fromMachine(s)
	}
	if err != nil {
		return err
	}
	if err := r.inhabit(s.Host, s.Again); err != nil {
		return err
	}
	if network != nil {
		if err := r.place(s.Names.Out(authorityFile), network.authority); err != nil {
			return err
		}
	}
	if s.StandIns {
		if err := r.placeSelf(s.Names.Out(standInProgram)); err != nil {
			return err
		}
	}
	if err := r.ensure(s.Home, 0o755); err != nil {
		return err
	}
	if err := plant(r.at(s.Home), decoy.Private); err != nil {
		return err
	}
	if err := r.owner.ownDecoys(r.at(s.Home), s.Decoys); err != nil {
		return err
	}
	if err := r.settle(s.Person, s.Home); err != nil {
		return err
	}
	to, err := inherit(stateFD)
	if err != nil {
		return err
	}
	return errors.Join(share(s.Mount, to), to.Close())
}

// fromMachine builds the root from the machine's files.
func (r *root) fromMachine(s spec) error {
	info, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	mounts, err := readMounts(info)
	if closeErr := info.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	r.view = s.view(mounts)
	if r.owner != nil {
		r.apart = apartFrom(s.Dir, s.Keep)
	}
	if err := r.build(); err != nil {
		return err
	}
	if r.readOnly != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", notePrefix, r.readOnly)
	}
	return nil
}

// runTracer runs the tracer around the next stage and returns its exit code.
func runTracer(s spec, as ids) (int, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	argv := append(append([]string{}, s.Tracer...), program, stageEnter, string(as), filepath.Join(s.Mount, "root"), s.Parent, s.Dir)
	argv = append(argv, s.Command...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", os.Stderr, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(outerLinkFD, "link")}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	// The server's bytes reach the sinkhole, which is in this process. Nothing is mounted any more.
	if err := harden.Tracing(); err != nil {
		return 0, err
	}
	if trace.Halted(cmd.Process.Pid) {
		return 0, errors.New("the tracer was stopped") // our end is its end, and the server's
	}
	return code(cmd, cmd.Wait())
}

// enter returns what the tracer runs: it makes the inner namespaces, for the tracer
// cannot, and waits. The server sees neither the tracer nor us.
func enter(args []string) (int, error) {
	as, root := ids(args[0]), args[1]
	// The next stage may not be able to go through the directories above the root.
	if err := os.Chdir(root); err != nil {
		return 0, fmt.Errorf("enter the server's root: %w", err)
	}
	cmd := exec.Command(self, append([]string{stageInit}, args[2:]...)...)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(linkFD, "link")}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
	}
	as.userNamespace(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return 0, noUserNamespace(err)
	}
	return code(cmd, cmd.Wait())
}

// first is the first process of the server's PID namespace, as a machine has one: no server's parent. Its end is
// the end of all processes in the namespace.
func first(args []string) (int, error) {
	guise := shim.NewGuise()
	args = os.Args[len(os.Args)-len(args):] // the copies
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("close the /proc of process 1: %w", err)
	}
	if err := guise.Pose("/sbin/init"); err != nil {
		return 0, err
	}
	if err := unlockRoot(); err != nil {
		return 0, err
	}
	if err := mountProc("proc"); err != nil {
		return 0, err
	}
	skipPIDs("proc")
	cmd := exec.Command(self, append([]string{stageSupervise}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(linkFD, "link")}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	return code(cmd, cmd.Wait())
}

func code(cmd *exec.Cmd, err error) (int, error) {
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// supervise changes the root and, as the server's parent, supervises it like the shim in a
// Pod.
func supervise(args []string) (int, error) {
	guise := shim.NewGuise()
	args = os.Args[len(os.Args)-len(args):] // the copies
	parent, dir, command := args[0], args[1], args[2:]
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("close our own /proc: %w", err)
	}
	// What outlives its parent comes to us, as in a Pod.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("become the reaper of the server's processes: %w", err)
	}
	if parent != noParent {
		if err := accompany(guise); err != nil {
			return 0, err
		}
	}
	skipPIDs("proc")
	if err := guise.Pose(parent); err != nil {
		return 0, err
	}
	if err := forbidUserNamespaces("proc"); err != nil {
		return 0, err
	}
	if err := leaveHalf("proc"); err != nil {
		return 0, err
	}
	if err := protectProc("proc"); err != nil {
		return 0, err
	}
	if err := changeRoot(dir); err != nil {
		return 0, err
	}
	conn, err := inherit(linkFD)
	if err != nil {
		return 0, err
	}
	return shim.Supervise(conn, direct(command)), nil
}

func mountProc(at string) error {
	if err := unix.Mount("proc", at, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount %s: %w", at, err)
	}
	return nil
}

// unlockRoot mounts the working directory, the server's root, once more: the mounts of
// a namespace that another user namespace has made cannot be pivoted to
// (mount_namespaces(7)).
func unlockRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	if err := unix.Mount(".", ".", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount the server's root: %w", err)
	}
	if err := os.Chdir("../root"); err != nil { // through the mount
		return fmt.Errorf("enter the server's root: %w", err)
	}
	return nil
}

// changeRoot makes the working directory the root and drops the old one, stacked below
// it (pivot_root(2), "pivot_root(".", ".")").
func changeRoot(dir string) error {
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("drop the old root: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("enter the working directory: %w", err)
	}
	return nil
}

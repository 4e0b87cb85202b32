package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/plan"
)

const (
	// attachTimeout bounds the time in which the tracer seizes every thread.
	attachTimeout = 10 * time.Second
	// attempts bounds the starts of strace, each with that time: it lists the threads once, and misses
	// one that a thread begins before it is seized itself. Our own tracer misses none, and
	// is not told to detach: its tracees would end with it.
	attempts = 3
)

// errUnseized means that the tracer runs, but has not seized every thread in time.
var errUnseized = errors.New("the tracer did not get hold of every thread in time")

// Attach starts the tracer on a process that is waiting for it, and returns when
// every thread of that process is traced. It returns ErrUnavailable, wrapped
// in what to do about it, when the tracer is refused.
func Attach(ctx context.Context, pid int, cfg Config) (*Session, error) {
	if cfg.Backend == plan.TracerPtrace {
		return attachOnce(ctx, pid, cfg, seizure{attempts * attachTimeout, seized})
	}
	return attach(ctx, pid, cfg, seizure{attachTimeout, func(pid, tracer int) (bool, error) {
		all, err := seized(pid, tracer)
		return all && begun(cfg.File), err
	}})
}

// begun reports whether strace has written its first line. It seizes a thread before it stops
// it: calls between the two, even the server's execve, are not in the trace. It writes nothing
// before it has stopped all threads.
func begun(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}

// seizure has the tracer's deadline, and reports whether it has every thread of a process.
type seizure struct {
	within time.Duration
	done   func(pid, tracer int) (bool, error)
}

func attach(ctx context.Context, pid int, cfg Config, all seizure) (s *Session, err error) {
	for range attempts {
		if s, err = attachOnce(ctx, pid, cfg, all); !errors.Is(err, errUnseized) || ctx.Err() != nil {
			return s, err
		}
	}
	return s, err
}

func attachOnce(ctx context.Context, pid int, cfg Config, all seizure) (*Session, error) {
	said := &head{limit: 4096}
	args := cfg.attaching(pid)
	// Not CommandContext: that would kill strace, which then leaves its tracees
	// untraced and the trace without its end.
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = said
	// strace tries ptrace out on a child when it starts. Stopped at that moment, it
	// leaves the child behind, with its stderr.
	cmd.WaitDelay = time.Second
	cfg.Attached = cfg.Backend != plan.TracerPtrace
	s, err := newSession(cfg, os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		_ = s.file.Close()
		return nil, Unavailable(err.Error())
	}
	s.root, s.owner, s.executable = pid, owner(pid), executable
	s.terminate = func() { _ = cmd.Process.Signal(syscall.SIGTERM) } // it detaches
	go s.wait(cmd)
	if err := s.await(ctx, pid, cmd.Process.Pid, all); err != nil {
		s.Stop()
		<-s.ended
		_ = s.file.Close()
		// Its messages after it is told to detach do not count.
		if text := said.String(); errors.Is(err, ErrUnavailable) && text != "" {
			return nil, Unavailable(text)
		}
		return nil, err
	}
	return s, nil
}

// executable returns the file that a process executes (proc_pid_exe(5)); "" once it has ended.
func executable(pid int) string {
	file, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return file
}

// owner returns the effective ids of a process (proc_pid_status(5)); 0, which
// promises nothing, if they cannot be read.
func owner(pid int) (ids [2]int) {
	status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	for line := range bytes.Lines(status) {
		for i, name := range []string{"Uid:", "Gid:"} {
			if fields := bytes.Fields(line); len(fields) > 2 && string(fields[0]) == name {
				ids[i], _ = strconv.Atoi(string(fields[2]))
			}
		}
	}
	return ids
}

// wait reaps the tracer and judges its end: after the last tracee it ends by
// itself with status 0.
func (s *Session) wait(cmd *exec.Cmd) {
	if Halted(cmd.Process.Pid) {
		s.lose("the tracer was stopped")
		_ = cmd.Process.Kill() // stopped, it would never end
	}
	err := cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has ended well, but another process holds its stderr
	}
	s.finished.Store(err == nil)
	if err != nil && !s.stopped.Load() {
		s.lose("the tracer ended with " + err.Error())
	}
	s.Ended()
}

// Halted waits until a child, the tracer, ends or is stopped by a signal, and
// reports whether it was stopped: then it sees nothing more. The child is not
// reaped.
func Halted(pid int) bool {
	// linux/wait.h and asm-generic/siginfo.h: the code of a child that stopped.
	const stopped = 5
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && info.Code == stopped
		}
	}
}

// await polls until every thread is traced by our tracer.
func (s *Session) await(ctx context.Context, pid, tracer int, all seizure) error {
	ctx, cancel := context.WithTimeout(ctx, all.within)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		switch traced, err := all.done(pid, tracer); {
		case err != nil:
			return fmt.Errorf("attach to process %d: %w", pid, err)
		case traced:
			return nil
		}
		select {
		case <-s.ended:
			return Unavailable("the tracer ended at once")
		case <-ctx.Done():
			return fmt.Errorf("attach to process %d: %w (%w)", pid, errUnseized, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// seized reports whether every thread of a process has the given tracer. Threads
// that end meanwhile do not count; new ones are traced from their start.
func seized(pid, tracer int) (bool, error) {
	tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	if err != nil {
		return false, err
	}
	want := []byte("\nTracerPid:\t" + strconv.Itoa(tracer) + "\n")
	for _, t := range tasks {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "task", t.Name(), "status"))
		if err != nil {
			continue
		}
		if !bytes.Contains(status, want) {
			return false, nil
		}
	}
	return len(tasks) > 0, nil
}

// head keeps the beginning of what is written to it. It is written to by one
// goroutine and read after Wait.
type head struct {
	limit int
	data  []byte
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.limit - len(h.data); room > 0 {
		h.data = append(h.data, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (h *head) String() string { return string(h.data) }

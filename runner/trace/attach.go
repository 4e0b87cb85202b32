package trace

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// attachTimeout is how long strace may take to seize every thread.
const attachTimeout = 20 * time.Second

// Attach starts strace on a process that is waiting for it, and returns when
// every thread of that process is traced. It returns ErrUnavailable, wrapped
// in what to do about it, when the tracer is refused.
func Attach(ctx context.Context, pid int, cfg Config) (*Session, error) {
	said := &head{limit: 4096}
	args := append(straceFlags(cfg.File), "-p", strconv.Itoa(pid))
	// Not CommandContext: that would kill strace, which then leaves its tracees
	// untraced and the trace without its end.
	cmd := exec.Command(program, args...)
	cmd.Stderr = said
	s, err := newSession(cfg, os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		_ = s.file.Close()
		return nil, Unavailable(err.Error())
	}
	s.terminate = func() { _ = cmd.Process.Signal(syscall.SIGTERM) } // it detaches
	go s.wait(cmd)
	if err := s.await(ctx, pid, cmd.Process.Pid); err != nil {
		s.Stop()
		<-s.ended
		_ = s.file.Close()
		if text := said.String(); text != "" {
			return nil, Unavailable(text)
		}
		return nil, err
	}
	return s, nil
}

// wait reaps strace and judges its end: it ends by itself, with status 0, when
// the last tracee has.
func (s *Session) wait(cmd *exec.Cmd) {
	if err := cmd.Wait(); err != nil && !s.stopped.Load() {
		s.lose()
	}
	s.Ended()
}

// await polls until every thread is traced by our strace.
func (s *Session) await(ctx context.Context, pid, tracer int) error {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		switch traced, err := seized(pid, tracer); {
		case err != nil:
			return fmt.Errorf("attach to process %d: %w", pid, err)
		case traced:
			return nil
		}
		select {
		case <-s.ended:
			return Unavailable("strace ended at once")
		case <-ctx.Done():
			return fmt.Errorf("attach to process %d: %w", pid, ctx.Err())
		case <-ticker.C:
		}
	}
}

// seized tells whether every thread of a process has the given tracer. Threads
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

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// stageDecode runs this program as the reader of a synthetic trace. Peak memory is counted per
// process, so each trace has its own.
const stageDecode = "bench-decode"

// ahead bounds the written but unread bytes of the trace, and so its space on disk.
const ahead = 64 << 20

// usage is printed by stageDecode, as JSON.
type usage struct {
	Lines   uint64
	Bytes   int64
	Events  uint64
	Effects int
	Dropped int
	Peak    int // resident, in bytes
	CPU     time.Duration
}

// memory prints the peak memory of the reader for the long trace and for a tenth of it, which
// should hardly differ.
func memory(ctx context.Context, w io.Writer, dir string, lines int) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "LINES\tMiB OF TRACE\tEVENTS\tEFFECTS KEPT\tDROPPED\tPEAK RSS IN MiB\tLINES PER CPU SECOND\tMiB\t") // Flush has the error
	for _, n := range []int{lines / 10, lines} {
		u, err := decoded(ctx, filepath.Join(dir, "long.txt"), n)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.0f\t\n", u.Lines, u.Bytes>>20, u.Events, u.Effects, u.Dropped, u.Peak>>20,
			float64(u.Lines)/u.CPU.Seconds(), float64(u.Bytes>>20)/u.CPU.Seconds())
	}
	if _, err := fmt.Fprint(w, "\nMemory and speed of the process that reads a synthetic trace without repetitions (its time includes\nwriting the trace).\n\n"); err != nil {
		return err
	}
	return table.Flush()
}

// decoded runs stageDecode.
func decoded(ctx context.Context, file string, lines int) (u usage, err error) {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", stageDecode, file, strconv.Itoa(lines))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return u, fmt.Errorf("read %d lines: %w", lines, err)
	}
	return u, json.Unmarshal(out, &u)
}

// decode implements stageDecode. It reads a trace while it is written, through the same file, tail,
// decoder and profile as an audit.
func decode(args []string) error {
	file := args[0]
	lines, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	session, err := trace.Follow(trace.Config{File: file, Stdin: 1, Stdout: 2})
	if err != nil {
		return errors.Join(err, out.Close())
	}
	written := make(chan error, 1)
	go func() {
		err := newSynthetic(out, lines, func(n int64) {
			for n-session.Stats().Bytes > ahead {
				time.Sleep(time.Millisecond)
			}
		}).write()
		session.Ended()
		written <- errors.Join(err, out.Close())
	}()
	builder := profile.New(profile.Limits{})
	err = session.Run(context.Background(), builder.Add)
	if err = errors.Join(err, <-written); err != nil {
		return err
	}
	return showMemory(session.Stats(), builder.Build(nil))
}

// showMemory prints the usage; it fails if the trace was not read completely.
func showMemory(s trace.Stats, p profile.Profile) error {
	if s.Unparsed > 0 || s.Cut > 0 || s.Dropped > 0 {
		return fmt.Errorf("the synthetic trace was not read completely: %+v", s)
	}
	peak, err := command.PeakRSS(os.Getpid())
	if err != nil {
		return err
	}
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return fmt.Errorf("getrusage: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(usage{
		Lines: s.Lines, Bytes: s.Bytes, Events: s.Events, Effects: len(p.Effects), Dropped: p.Dropped, Peak: peak,
		CPU: time.Duration(used.Utime.Nano() + used.Stime.Nano()),
	})
}

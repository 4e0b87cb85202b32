// Command misbehave is an MCP server that fails in the way that its one
// argument names, so that tests can see what an audit makes of it.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/mcpaudit/mcpaudit/test/servers/go/note"
)

// modes are the ways to fail.
var modes = map[string]func() error{
	"exit":    exitAtOnce,
	"silent":  staySilent,
	"garbage": garble,
	"oom":     func() error { return note.Serve(note.Options{Aside: exhaust}) },
	"fill":    func() error { return note.Serve(note.Options{Aside: fill}) },
	"fork":    func() error { return note.Serve(note.Options{Aside: multiply}) },
	"drift":   drift,
	"slow":    slow,
	"walk":    func() error { return note.Serve(note.Options{Aside: walk}) },
	"huge":    func() error { return note.Serve(note.Options{Copies: 600}) },
}

func main() {
	mode := func() error {
		return errors.New("usage: misbehave exit|silent|garbage|oom|fill|fork|drift|slow|walk|huge")
	}
	if len(os.Args) == 2 && modes[os.Args[1]] != nil {
		mode = modes[os.Args[1]]
	}
	if err := mode(); err != nil {
		fmt.Fprintln(os.Stderr, "misbehave:", err)
		os.Exit(1)
	}
}

// exitAtOnce is a server that lacks its configuration.
func exitAtOnce() error {
	fmt.Fprintln(os.Stderr, "misbehave: NOTES_TOKEN is not set")
	os.Exit(3)
	return nil
}

// staySilent reads every request and answers none, until stdin ends.
func staySilent() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// garble answers every request with a line that is not JSON.
func garble() error {
	requests := bufio.NewScanner(os.Stdin)
	for n := 1; requests.Scan(); n++ {
		fmt.Printf("listening, request %d <- this is not JSON\n", n)
	}
	return requests.Err()
}

// exhaust takes memory until the kernel ends it. It stops at 2 GiB, so that a
// run without a memory limit does not take the machine with it.
func exhaust(context.Context) string {
	const chunk, limit = 16 << 20, 2 << 30
	var held [][]byte
	for taken := 0; taken < limit; taken += chunk {
		block := make([]byte, chunk)
		for i := 0; i < chunk; i += 4096 { // a page counts once it is written to
			block[i] = 1
		}
		held = append(held, block)
	}
	fmt.Fprintln(os.Stderr, "misbehave: no limit at", len(held)*chunk, "bytes")
	return ""
}

// walk looks at everything in the directory for temporary files, as servers do whose root
// that is, and says what it saw.
func walk(context.Context) string {
	count := 0
	err := filepath.WalkDir("/tmp", func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			count++
			_, err = os.Stat(path)
		}
		fmt.Fprintln(os.Stderr, path)
		return err
	})
	fmt.Fprintln(os.Stderr, "misbehave: saw", count, err)
	return ""
}

// fill writes to its home until there is no room, at most 1 GiB, and stays.
func fill(ctx context.Context) string {
	const chunk, limit = 16 << 20, 1 << 30
	file, err := os.CreateTemp(os.Getenv("HOME"), "fill")
	for written := 0; err == nil && written < limit; written += chunk {
		_, err = file.Write(make([]byte, chunk))
	}
	fmt.Fprintln(os.Stderr, "misbehave: filled its home:", err)
	<-ctx.Done()
	return ""
}

// drift advertises the description of the environment, so that two images, or
// two audits of one, differ in nothing else.
func drift() error {
	return note.Serve(note.Options{Description: os.Getenv("NOTES_DESCRIPTION")})
}

// slow takes NOTES_SECONDS (30 when unset) for each call, or until stdin ends.
func slow() error {
	seconds := 30
	if s := os.Getenv("NOTES_SECONDS"); s != "" {
		var err error
		if seconds, err = strconv.Atoi(s); err != nil {
			return fmt.Errorf("read NOTES_SECONDS: %w", err)
		}
	}
	return note.Serve(note.Options{Aside: func(ctx context.Context) string {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(seconds) * time.Second):
		}
		return ""
	}})
}

package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// askArg makes it a client that posts to each URL on its stdin.
const askArg = "ask"

func ask() error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := post(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// TestCallsReachTheSinkhole: what a refusal says was missing is there the next time.
func TestCallsReachTheSinkhole(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	launcher, err := sandbox.New([]string{self, askArg}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	t.Cleanup(func() { _ = launcher.Close() }) // what it held goes with us in any case
	process, err := launcher.Launch(ctx, audit.Start{})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = collect(process.Captures()) }()
	go func() { _ = process.Trace().Run(ctx, func(trace.Event) {}) }() // nobody reads it
	stdin, stdout, stderr := process.Streams()
	go func() { _ = readAll(stderr) }()
	answers := bufio.NewScanner(stdout)
	learned := false
	for i := 0; !learned && ctx.Err() == nil; i++ { // what is told comes when it comes
		process.Call(sinkhole.Call{})
		if _, err := fmt.Fprintf(stdin, "http://api.example/notes/%d\n", i); err != nil || !answers.Scan() {
			t.Fatal(err, answers.Err())
		}
		learned = strings.Contains(answers.Text(), `"colour"`)
		process.Call(sinkhole.Call{Ended: true, Refusal: "KeyError: 'colour'"})
	}
	if !learned {
		t.Error("the sinkhole did not hear of the refusals")
	}
	process.Stop(ctx)
}

package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
)

// TestFlagsThatNameFiles: a server with a working directory changes ours, so every flag that names a file has to be a
// cli.Path. Those with any other text are listed here.
func TestFlagsThatNameFiles(t *testing.T) {
	texts := []string{"mcp-registry", "memory", "path", "program"}
	for _, c := range []*cobra.Command{newRun(), newLock(), newVerifyLock()} {
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if fmt.Sprintf("%T", flag.Value) == "*pflag.stringValue" && !slices.Contains(texts, flag.Name) {
				t.Errorf("%s --%s: use cli.Path if it names a file, or list it here", c.Name(), flag.Name)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	var values [4]string
	for i, name := range []string{"relative", "absolute", "stdin", "unset"} {
		cli.Path(f, &values[i], name, "")
	}
	if err := f.Parse([]string{"--relative", "a/b", "--absolute", "/c", "--stdin", "-"}); err != nil {
		t.Fatal(err)
	}
	cli.Resolve(f, "/dir")
	cli.Resolve(f, "/other")
	if want := [4]string{"/dir/a/b", "/c", "-", ""}; values != want {
		t.Errorf("%q, want %q", values, want)
	}
}

package options_test

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/controllers/options"
)

func TestFlags(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string // in the error; empty: valid
	}{
		{"the least", []string{"--runner-image=a"}, ""},
		{"all that can be wrong", []string{"--concurrency=0", "--run-namespace=A_b", "--server-memory=lots"}, "--runner-image is required"},
		{"no workers", []string{"--runner-image=a", "--concurrency=0"}, "--concurrency 0"},
		{"no slots", []string{"--runner-image=a", "--slots=0"}, "--slots 0"},
		{"no slots of a namespace", []string{"--runner-image=a", "--namespace-slots=-1"}, "--namespace-slots -1"},
		{"no namespace", []string{"--runner-image=a", "--run-namespace="}, "is no namespace"},
		{"no limit", []string{"--runner-image=a", "--server-cpu=0"}, `"0" is no limit for cpu`},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options.Default()
			flags := pflag.NewFlagSet(test.name, pflag.ContinueOnError)
			o.AddFlags(flags)
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			err := o.Validate()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("Validate = %v, want %q", err, test.want)
			}
		})
	}
}

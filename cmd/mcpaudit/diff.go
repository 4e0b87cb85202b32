package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/terminal"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// comparison are the flags of diff.
type comparison struct {
	output string
	help   bool
}

func (o *comparison) flags() *pflag.FlagSet {
	f := flagSet("diff")
	f.StringVarP(&o.output, "output", "o", "table", "table or json")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// diff is the command of that name: it compares two reports, and audits nothing.
func diff(_ context.Context, args []string, stdout, _ io.Writer) (int, error) {
	var o comparison
	f := o.flags()
	switch err := f.Parse(args); {
	case err != nil:
		return exitError, misused(f, err)
	case o.help:
		return 0, explainCommand(stdout, "diff")
	case o.output != "table" && o.output != "json":
		return exitError, fmt.Errorf("--output %q: it is table or json", o.output)
	case f.NArg() != 2:
		return exitError, errors.New("give two reports, the earlier one first: mcpaudit diff A.json B.json")
	}
	var reports [2]report.Report
	for i, name := range f.Args() {
		var err error
		if reports[i], err = readReport(name); err != nil {
			return exitError, err
		}
	}
	d := render.Differ(reports[0], reports[1])
	write := func() error { return render.DifferenceTable(stdout, d, terminal.Colours(stdout)) }
	if o.output == "json" {
		write = func() error { return render.DifferenceJSON(stdout, d) }
	}
	if err := write(); err != nil {
		return exitError, err
	}
	switch same, known := d.Same(); {
	case !same:
		return exitFindings, nil
	case !known:
		return exitError, errors.New("one of the audits did not see everything: what both saw is the same")
	}
	return 0, nil
}

// readReport reads a report of --out-dir or -o json, whose manifest was listed whole.
func readReport(name string) (report.Report, error) {
	r, err := loadReport(name)
	if err == nil && r.ManifestDigest == "" {
		err = fmt.Errorf("%s: that audit could not list the manifest: give the report.json of one that could", name)
	}
	return r, err
}

// loadReport reads a report of --out-dir or -o json, or an MCPAuditReport; "-" is
// standard input.
func loadReport(name string) (report.Report, error) {
	source, err := readSource(name)
	return source.Report, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/terminal"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// showing are the flags of show.
type showing struct {
	output string
	help   bool
}

func (o *showing) flags() *pflag.FlagSet {
	f := flagSet("show")
	f.StringVarP(&o.output, "output", "o", "table", strings.Join(render.Outputs(), ", "))
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// show is the command of that name: it writes a report that was kept in another format.
// Whatever the verdict is, having shown it is a success.
func show(_ context.Context, args []string, stdout, _ io.Writer) (int, error) {
	var o showing
	f := o.flags()
	switch err := f.Parse(args); {
	case err != nil:
		return exitError, misused(f, err)
	case o.help:
		return 0, explainCommand(stdout, "show")
	case !slices.Contains(render.Outputs(), o.output):
		return exitError, fmt.Errorf("--output %q: it is one of %s", o.output, strings.Join(render.Outputs(), ", "))
	case f.NArg() != 1:
		return exitError, errors.New("give one report: mcpaudit show REPORT.json")
	}
	r, err := loadReport(f.Arg(0))
	if err != nil {
		return exitError, err
	}
	err = write(stdout, o.output, r)
	return status(err), err
}

// write writes a report in one of render.Outputs. On a terminal what could be taken for
// an order is escaped; a program gets every byte.
func write(w io.Writer, output string, r report.Report) error {
	format, ok := render.FormatNamed(output)
	switch {
	case !ok:
		return render.Table(w, r, terminal.Colours(w))
	case !terminal.Is(w):
		return format.Write(w, r)
	}
	var text strings.Builder
	if err := format.Write(&text, r); err != nil {
		return err
	}
	_, err := w.Write(terminal.Lines([]byte(text.String())))
	return err
}

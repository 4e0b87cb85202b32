package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// newShow writes a report in another format. It succeeds for any verdict.
func newShow() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "show REPORT.json", Short: "Write a report in another format", Args: cli.Args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := loadReport(args[0])
			if err != nil {
				return err
			}
			return write(c.OutOrStdout(), output, r)
		},
	}
	cli.Output(c, &output, render.Outputs()...)
	return c
}

func write(w io.Writer, output string, r report.Report) error {
	if format, ok := render.FormatNamed(output); ok {
		return cli.WriteReport(w, format, r)
	}
	return render.Table(w, r, cli.Colours(w))
}

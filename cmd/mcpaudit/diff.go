package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

func newDiff() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "diff EARLIER.json LATER.json", Short: "Compare what a server advertised and did in two reports", Args: cli.Args(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			var reports [2]report.Report
			for i, name := range args {
				var err error
				if reports[i], err = readReport(name); err != nil {
					return err
				}
			}
			return cli.WriteDifference(c.OutOrStdout(), render.Differ(reports[0], reports[1]), output)
		},
	}
	cli.Output(c, &output, "table", "json")
	return c
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
)

// listening holds the flags for where a server listens.
type listening struct {
	transport plan.Transport
	port      int
	path      string
}

func (o *listening) flags(c *cobra.Command) {
	cli.Transport(c, &o.transport)
	c.Flags().IntVar(&o.port, "port", 0, "port that the server listens on; 0: the first one that it opens, with auto any")
	c.Flags().StringVar(&o.path, "path", "", "path of the endpoint (default /mcp, with sse /sse, with auto whichever answers)")
}

// plan checks the flags and enters them into the plan.
func (o *listening) plan(p *audit.Plan) error {
	if err := cli.CheckListening(o.transport, o.port, o.path); err != nil {
		return err
	}
	if o.path != "" && (o.path[0] != '/' || strings.ContainsAny(o.path, "# \t\r\n")) {
		return fmt.Errorf("--path: invalid value %q (want a path such as /mcp, without blanks and #)", o.path)
	}
	p.Transport, p.Port, p.Path = o.transport.Name, uint16(o.port), o.path
	return nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// The floors: so many servers have to be there, and of their tools at most one in
// a hundred may be flagged.
const (
	minServers = 30
	maxFlagged = 0.01
)

// servers are published servers whose descriptions nobody has poisoned, of the most
// downloaded ones. What wants a key gets one that is no good.
var servers = []published{
	npm("@modelcontextprotocol/server-everything@2026.8.31"),
	npm("@modelcontextprotocol/server-filesystem@2026.8.31", "/tmp"),
	npm("@modelcontextprotocol/server-memory@2026.8.31"),
	npm("@modelcontextprotocol/server-sequential-thinking@2026.8.31"),
	npm("@modelcontextprotocol/server-postgres@0.6.2", "postgresql://u:p@db.corp.example:5432/app"),
	npm("@modelcontextprotocol/server-github@2025.4.8").with("GITHUB_PERSONAL_ACCESS_TOKEN=none"),
	npm("@modelcontextprotocol/server-gitlab@2025.4.25").with("GITLAB_PERSONAL_ACCESS_TOKEN=none"),
	npm("@modelcontextprotocol/server-slack@2025.4.25").with("SLACK_BOT_TOKEN=xoxb-none", "SLACK_TEAM_ID=T0"),
	npm("@modelcontextprotocol/server-google-maps@0.6.2").with("GOOGLE_MAPS_API_KEY=none"),
	npm("@modelcontextprotocol/server-brave-search@0.6.2").with("BRAVE_API_KEY=none"),
	npm("@modelcontextprotocol/server-puppeteer@2025.5.12"),
	npm("mcp-hello-world@1.1.2"),
	npm("mcp-server-commands@0.5.0"),
	npm("@upstash/context7-mcp@4.1.1"),
	npm("@antv/mcp-server-chart@0.9.10"),
	npm("@brave/brave-search-mcp-server@2.1.4").with("BRAVE_API_KEY=none"),
	npm("@notionhq/notion-mcp-server@2.5.2").with("NOTION_TOKEN=none"),
	npm("firecrawl-mcp@3.26.0").with("FIRECRAWL_API_KEY=none"),
	npm("tavily-mcp@0.2.22").with("TAVILY_API_KEY=none"),
	npm("@allpepper/memory-bank-mcp@0.2.2").with("MEMORY_BANK_ROOT=/tmp"),
	npm("figma-developer-mcp@0.13.2", "--stdio").with("FIGMA_API_KEY=none"),
	npm("exa-mcp-server@3.4.1").with("EXA_API_KEY=none"),
	npm("mcp-server-kubernetes@4.1.7"),
	npm("mcp-fetch-server@1.1.2").runs("mcp-fetch-server"),
	npm("@wonderwhy-er/desktop-commander@0.2.52").runs("desktop-commander"),
	npm("@playwright/mcp@0.0.83"),
	npm("@executeautomation/playwright-mcp-server@1.0.12"),
	npm("chrome-devtools-mcp@1.11.0").runs("chrome-devtools-mcp"),
	npm("@supabase/mcp-server-supabase@0.13.0", "--access-token", "sbp_none", "--features=database,account,functions").runs("mcp-server-supabase"),
	npm("@eslint/mcp@0.3.13"),
	npm("mongodb-mcp-server@3.0.4"),
	npm("@circleci/mcp-server-circleci@0.20.0").with("CIRCLECI_TOKEN=none"),
	npm("@zereight/mcp-gitlab@2.1.64").runs("mcp-gitlab").with("GITLAB_PERSONAL_ACCESS_TOKEN=none"),
	npm("@hubspot/mcp-server@0.4.0").with("PRIVATE_APP_ACCESS_TOKEN=none"),
	npm("@perplexity-ai/mcp-server@1.2.1").with("PERPLEXITY_API_KEY=none"),
	npm("@sentry/mcp-server@0.39.0", "--access-token=none"),
	npm("@winor30/mcp-server-datadog@1.8.0").with("DATADOG_API_KEY=none", "DATADOG_APP_KEY=none"),
	npm("@shopify/dev-mcp@1.16.0"),
	npm("@openbnb/mcp-server-airbnb@0.3.0"),
	npm("airtable-mcp-server@1.14.0").with("AIRTABLE_API_KEY=none"),
	npm("mcp-mermaid@0.4.1"),
	npm("reddit-mcp-buddy@1.1.14").runs("reddit-mcp-buddy"),
	npm("@cyanheads/git-mcp-server@2.15.3"),
	npm("@mapbox/mcp-server@0.14.0").with("MAPBOX_ACCESS_TOKEN=pk.none.none"),
	npm("mcp-server-code-runner@0.1.8"),
	npm("@mui/mcp@0.1.6"),
	npm("@mobilenext/mobile-mcp@1.0.4"),
	npm("hostinger-api-mcp@1.63.2").runs("hostinger-api-mcp").with("API_TOKEN=none"),
	npm("ios-simulator-mcp@2.1.0"),
	gomod("github.com/mark3labs/mcp-go/examples/everything@v1.2.1"),
	gomod("github.com/mark3labs/mcp-go/examples/typed_tools@v1.2.1"),
	gomod("github.com/modelcontextprotocol/go-sdk/examples/server/everything@v1.8.0"),
	gomod("github.com/modelcontextprotocol/go-sdk/examples/server/memory@v1.8.0"),
	gomod("github.com/modelcontextprotocol/go-sdk/examples/server/sequentialthinking@v1.8.0"),
	gomod("github.com/grafana/mcp-grafana/cmd/mcp-grafana@v1.6.3").with("GRAFANA_URL=http://localhost:3000"),
}

// benign counts the tools of honest servers that the rules about texts flag.
func benign(ctx context.Context, cache string, out io.Writer) (missed []string, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, "server\ttools\tflagged\tfindings of texts"); err != nil {
		return nil, err
	}
	var details, missing strings.Builder
	had, tools, flagged := 0, 0, 0
	for _, p := range servers {
		r, err := p.collect(ctx, cache)
		if err != nil {
			return nil, err
		}
		if r.Missing == "" && len(r.Manifest.Tools) == 0 {
			r.Missing = "it lists no tools"
		}
		if r.Missing != "" {
			fmt.Fprintf(&missing, "not counted: %s: %s\n", p.source, render.Escape(r.Missing))
			continue
		}
		found := slices.DeleteFunc(rules.Judge(textInput(r)), func(f report.Finding) bool { return !aboutText(f.Rule) })
		n := len(flaggedTools(found))
		had, tools, flagged = had+1, tools+len(r.Manifest.Tools), flagged+n
		if _, err := fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", p.source, len(r.Manifest.Tools), n, len(found)); err != nil {
			return nil, err
		}
		for _, f := range found {
			fmt.Fprintf(&details, "%s: %s %s: %s\n", p.source, f.Rule, f.Severity, render.Escape(f.Message))
		}
	}
	share := float64(flagged) / float64(max(tools, 1))
	if _, err := fmt.Fprintf(table, "%d servers\t%d\t%d\t%.2f %%\n", had, tools, flagged, 100*share); err != nil {
		return nil, err
	}
	if err := table.Flush(); err != nil {
		return nil, err
	}
	if had < minServers {
		missed = append(missed, fmt.Sprintf("%d servers could be had, at least %d are wanted", had, minServers))
	}
	if share > maxFlagged {
		missed = append(missed, fmt.Sprintf("%.2f %% of the tools are flagged, at most %.0f %% may be", 100*share, 100*maxFlagged))
	}
	_, err = fmt.Fprintf(out, "\n%s%s", details.String(), missing.String())
	return missed, err
}

// textInput is all that the rules about texts read of a server that was only listed.
func textInput(r record) rules.Input { return rules.Input{Manifest: r.Manifest, Command: r.Command} }

// aboutText tells of a rule whether it judges texts and names.
func aboutText(rule string) bool {
	for _, family := range []string{"MCPA-POISON-", "MCPA-OUTPUT-", "MCPA-SQUAT-"} {
		if strings.HasPrefix(rule, family) {
			return true
		}
	}
	return false
}

// flaggedTools are the tools with a finding.
func flaggedTools(found []report.Finding) map[string]bool {
	flagged := map[string]bool{}
	for _, f := range found {
		if f.Capability.Kind == report.CapabilityTool {
			flagged[f.Capability.Name] = true
		}
	}
	return flagged
}

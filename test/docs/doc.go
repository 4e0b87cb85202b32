// Package docs holds the documentation to what the program does. Its tests read
// README.md, CONTRIBUTING.md, docs and the READMEs of the charts; `go test` checks
// what needs no cluster, and hack/docs.sh (make test-docs) runs the rest.
//
// Each fenced block has an info string:
//
//	sh                  is run, in the order of the page, in one bash for the page
//	sh exit="3"         is run; its last command has to exit with that
//	sh skip="REASON"    is not run, and the reason is printed
//	yaml                is applied by a dry run of the API server when it is of
//	                    Kubernetes objects. Otherwise its first line is a comment
//	                    that says what it is: "# file: NAME", "# part of an
//	                    MCPServerAudit", and "# config.yaml" (of the operator) or
//	                    "# values.yaml" (of the chart), which are checked. What has "# file: NAME"
//	                    is saved by that name as well
//	yaml skip="REASON"  is parsed only
//	json                is parsed
//	text, console       are output
//	mermaid             is a picture
//
// The shell has `set -eu`, an empty temporary directory, and a fresh namespace as
// that of its KUBECONFIG. On its PATH are kubectl, mcpaudit and kubectl-mcpaudit;
// IMAGE_REGISTRY is the registry of the cluster and SOURCE the root of this tree. In
// what is run, ghcr.io/mcpaudit/ and registry.example/ are replaced by that registry.
// Each image NAME:TAG below registry.example is there: the leaky server (in Node)
// when its name has "leaky" in it, and the honest one otherwise.
//
// What a reader is not shown is said in comments:
//
//	<!-- docs-test: namespace=team-a -->  the fresh namespace stands for what the page calls
//	                                      team-a, which is replaced by its real name.
//	                                      A second such comment makes a second one. What
//	                                      the page itself creates is not there before
//	<!-- docs-test: serial -->            the page changes what others see: it is run
//	                                      alone
//	<!-- docs-test: sh                    lines that are run in their place: what the
//	...                                   page takes for granted
//	-->
package docs

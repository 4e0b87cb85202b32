package syscalls_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// numbers reads the constants SYS_... that x/sys has for an architecture, which are
// made of the kernel's tables.
func numbers(t *testing.T, arch string) map[string]int {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+arch+".go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if value, ok := spec.Values[0].(*ast.BasicLit); ok {
				all[spec.Names[0].Name], _ = strconv.Atoi(value.Value)
			}
		}
		return true
	})
	return all
}

func TestNumbersAreTheKernels(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		known := numbers(t, arch)
		for _, c := range syscalls.Table {
			want, exists := known["SYS_"+strings.ToUpper(c.Name)]
			got, ok := c.Number(arch)
			if ok != exists || ok && int(got) != want {
				t.Errorf("%s of %s: %d, %t; want %d, %t", c.Name, arch, got, ok, want, exists)
			}
		}
	}
}

func TestTable(t *testing.T) {
	var names []string
	for _, c := range syscalls.Table {
		if slices.Contains(names, c.Name) {
			t.Errorf("%s has two rows", c.Name)
		}
		names = append(names, c.Name)
		if len(c.Args) > 6 {
			t.Errorf("%s has %d arguments", c.Name, len(c.Args))
		}
		if c.Op == syscalls.Evade && c.Danger == "" {
			t.Errorf("%s evades: its row says how (Danger)", c.Name)
		}
		if got := syscalls.Find(c.Name); got.Name != c.Name {
			t.Errorf("%s is found as %q", c.Name, got.Name)
		}
	}
	if c := syscalls.Find("getpid"); c.Name != "" {
		t.Errorf("getpid is not traced: %+v", c)
	}
	if _, ok := syscalls.Find("getpid").Native(); ok {
		t.Error("a call that is not in the table has a number")
	}
}

//go:build docs

package docs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/crane"
)

// TestRun runs every page on the cluster of KUBECONFIG, as the package's documentation
// says. hack/docs.sh brings up the cluster, pushes the images and installs the operator.
func TestRun(t *testing.T) {
	registry := os.Getenv("IMAGE_REGISTRY")
	if registry == "" || os.Getenv("KUBECONFIG") == "" {
		t.Fatal("KUBECONFIG or IMAGE_REGISTRY is not set: run the test by `make test-docs`")
	}
	var (
		c                  = &cluster{registry: registry, took: map[string]time.Duration{}}
		beside, alone, all []*page
	)
	for _, p := range pages(t) {
		if only := os.Getenv("DOCS_PAGES"); only != "" && !regexp.MustCompile(only).MatchString(p.path) {
			continue
		}
		all = append(all, p)
		switch run, _, _ := p.counts(); {
		case run == 0:
		case p.serial:
			alone = append(alone, p)
		default:
			beside = append(beside, p)
		}
	}
	before := c.objects(t)
	t.Run("beside", func(t *testing.T) {
		for _, p := range beside {
			t.Run(p.path, func(t *testing.T) {
				t.Parallel()
				c.run(t, p)
			})
		}
	})
	if made := c.made(t, before); len(made) > 0 {
		t.Errorf("pages that run beside others made what others see; say <!-- docs-test: serial --> in them, or delete it there:\n\t%s", strings.Join(made, "\n\t"))
		c.delete(t, made)
	}
	for _, p := range alone {
		t.Run(p.path, func(t *testing.T) { c.run(t, p) })
		c.delete(t, c.made(t, before))
	}
	fmt.Print(c.table(all))
}

// cluster runs the pages.
type cluster struct {
	registry string
	mutex    sync.Mutex
	took     map[string]time.Duration
}

func (c *cluster) run(t *testing.T, p *page) {
	dir := t.TempDir()
	slug := "docs-" + strings.Trim(notInNames.ReplaceAllString(strings.ToLower(strings.TrimSuffix(p.path, ".md")), "-"), "-")
	names := p.namespaces
	if len(names) == 0 {
		names = []string{slug} // which the page does not speak of
	}
	real := map[string]string{names[0]: slug}
	for _, name := range names[1:] {
		real[name] = slug + "-" + name
	}
	began := time.Now()
	remove := append([]string{"delete", "namespace", "--ignore-not-found", "--timeout=120s"}, slices.Sorted(maps.Values(real))...)
	t.Cleanup(func() {
		kubectl(t, remove...)
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.took[p.path] = time.Since(began)
	})
	kubectl(t, remove...) // of a run that was cut off
	for _, name := range names {
		if !p.makes(name) {
			kubectl(t, "create", "namespace", real[name])
		}
	}
	replace := replacer(real)
	c.pushSamples(t, p, replace)
	config := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(config, []byte(kubectl(t, "config", "view", "--raw", "--flatten")), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "--kubeconfig", config, "config", "set-context", "--current", "--namespace", slug)
	s := &story{page: p, replace: func(s string) string { return c.images(replace(s)) }, dir: dir, env: environment(t, dir, config)}
	if err := s.run(t.Context(), blockDeadline); err != nil {
		t.Errorf("%v\n%s", err, explain(slug))
	}
}

// notInNames matches what no name of an object may have.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// makes says whether the page's own commands create the namespace.
func (p *page) makes(namespace string) bool {
	return slices.ContainsFunc(p.blocks, func(b block) bool {
		return b.language == "sh" && b.attributes["skip"] == "" && strings.Contains(b.text, "create namespace "+namespace)
	})
}

// replacer puts the namespaces that are there in the place of what the page calls them.
func replacer(real map[string]string) func(string) string {
	names := slices.Collect(maps.Keys(real))
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	pattern := regexp.MustCompile(`(^|[^a-z0-9-])(` + strings.Join(names, "|") + `)\b`)
	return func(s string) string {
		return pattern.ReplaceAllStringFunc(s, func(found string) string {
			parts := pattern.FindStringSubmatch(found)
			return parts[1] + real[parts[2]]
		})
	}
}

// images puts the registry of the cluster in the place of those of the pages.
func (c *cluster) images(s string) string {
	return strings.NewReplacer("ghcr.io/mcpaudit/", c.registry+"/mcpaudit/", "registry.example/", c.registry+"/").Replace(s)
}

// environment returns the environment of the page's shell: a home of its own, but the caches of Go.
func environment(t *testing.T, dir, config string) []string {
	t.Helper()
	home := filepath.Join(dir, "home")
	source, err := filepath.Abs(root)
	if err := errors.Join(err, os.MkdirAll(home, 0o755)); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+home, "KUBECONFIG="+config, "SOURCE="+source, "PATH="+filepath.Join(source, "bin")+":"+os.Getenv("PATH"))
	for _, name := range []string{"GOPATH", "GOCACHE", "GOMODCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	return env
}

// sample is an image of the reader's own registry, by a tag; not a pattern of such.
var sample = regexp.MustCompile(`registry\.example/([a-z0-9]+(?:[._/-][a-z0-9]+)*)(?::([A-Za-z0-9._-]+))?([^A-Za-z0-9._/:-]|/\*|$)`)

// pushSamples puts the images of the page's registry.example into the registry of the cluster.
func (c *cluster) pushSamples(t *testing.T, p *page, replace func(string) string) {
	t.Helper()
	for _, b := range p.blocks {
		if b.attributes["skip"] != "" || b.language != "sh" && b.language != "yaml" {
			continue
		}
		for _, match := range sample.FindAllStringSubmatch(replace(b.text), -1) {
			if match[3] == "/*" || match[3] == "*" || match[3] == "@" {
				continue
			}
			from := "honest-node"
			if strings.Contains(match[1], "leaky") {
				from = "leaky-node"
			}
			tag := match[2]
			if tag == "" {
				tag = "latest"
			}
			if err := crane.Copy(c.registry+"/mcpaudit/"+from+":dev", c.registry+"/"+match[1]+":"+tag, crane.Insecure); err != nil {
				t.Fatalf("%s:%d: registry.example/%s: %v", p.path, b.first, match[1], err)
			}
		}
	}
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command("kubectl", args...)
	var said strings.Builder
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Errorf("kubectl %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out)
}

// explain returns what a person would look at after a failure.
func explain(namespace string) string {
	var all strings.Builder
	for _, args := range [][]string{
		{"-n", namespace, "get", "mcpserveraudits,mcpauditpolicies,pods", "-o", "wide"},
		{"-n", namespace, "get", "events", "--sort-by=.lastTimestamp"},
		{"-n", "mcpaudit-runs", "get", "pods"},
	} {
		out, _ := exec.Command("kubectl", args...).CombinedOutput()
		fmt.Fprintf(&all, "$ kubectl %s\n%s", strings.Join(args, " "), out)
	}
	return all.String()
}

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// marker is a "+kubebuilder:rbac:..." line of the controllers, with the text above it as the
// reason.
type marker struct {
	groups, resources, verbs, names []string
	namespace, role, reason         string
}

// defaultRole is the roleName passed to controller-gen.
const defaultRole = "mcpaudit-manager"

// rule is a role's rule, with fields in the order of controller-gen.
type rule struct {
	APIGroups       []string `json:"apiGroups,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	Verbs           []string `json:"verbs,omitempty"`
}

// explain adds the reasons to each rule of the generated roles, and fails if a verb has none in
// the code.
func explain(files map[string][]byte) error {
	markers, err := readMarkers("controllers")
	if err != nil {
		return err
	}
	for path, content := range files {
		if !strings.Contains(string(content), "from config/rbac/role.yaml:") {
			continue
		}
		explained, err := explainRole(string(content), markers)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		files[path] = []byte(explained)
	}
	return nil
}

func explainRole(content string, markers []marker) (string, error) {
	var role struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Rules []rule `json:"rules"`
	}
	if err := yaml.Unmarshal([]byte(content), &role); err != nil {
		return "", err
	}
	head, _, _ := strings.Cut(content, "rules:\n")
	var text strings.Builder
	text.WriteString(head + "rules:\n")
	for _, r := range role.Rules {
		reasons, err := reasonsOf(r, role.Metadata.Namespace, markersFor(role.Metadata.Name, markers))
		if err != nil {
			return "", err
		}
		for _, reason := range reasons {
			text.WriteString("# - " + reason + "\n")
		}
		encoded, err := yaml.Marshal([]rule{r})
		if err != nil {
			return "", err
		}
		text.Write(encoded)
	}
	return text.String(), nil
}

// markersFor returns the markers of a role.
func markersFor(role string, all []marker) []marker {
	return slices.DeleteFunc(slices.Clone(all), func(m marker) bool { return m.role != role })
}

// reasonsOf returns the reasons of all markers that contribute to a rule.
func reasonsOf(r rule, namespace string, markers []marker) ([]string, error) {
	var reasons []string
	given := map[string]bool{}
	for _, m := range markers {
		if m.namespace != namespace || !slices.Equal(m.names, r.ResourceNames) || !meet(m.groups, r.APIGroups) || !meet(m.resources, r.Resources) || !meet(m.verbs, r.Verbs) {
			continue
		}
		if m.reason == "" {
			return nil, fmt.Errorf("no comment says why the operator may %s %s", strings.Join(m.verbs, ", "), strings.Join(m.resources, ", "))
		}
		for _, resource := range m.resources {
			for _, verb := range m.verbs {
				given[resource+" "+verb] = true
			}
		}
		if !slices.Contains(reasons, m.reason) {
			reasons = append(reasons, m.reason)
		}
	}
	for _, resource := range r.Resources {
		for _, verb := range r.Verbs {
			if !given[resource+" "+verb] {
				return nil, fmt.Errorf("no marker gives %s of %s: run `make manifests`", verb, resource)
			}
		}
	}
	return reasons, nil
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// readMarkers returns the markers of all Go files below a folder.
func readMarkers(folder string) ([]marker, error) {
	var all []marker
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all = append(all, markersOf(string(content))...)
		return nil
	})
	return all, err
}

// markersOf parses a file. A marker's reason is the paragraph before it, which several markers
// may share.
func markersOf(source string) []marker {
	var all []marker
	var paragraph []string
	marked := false // the paragraph has a marker: further text starts another
	for line := range strings.Lines(source) {
		text, isComment := strings.CutPrefix(strings.TrimSpace(line), "//")
		text = strings.TrimSpace(text)
		spec, isMarker := strings.CutPrefix(text, "+kubebuilder:rbac:")
		switch {
		case isComment && isMarker:
			m := parseMarker(spec)
			m.reason = strings.Join(paragraph, " ")
			all, marked = append(all, m), true
		case !isComment || text == "" || marked:
			paragraph, marked = nil, false
			if isComment && text != "" {
				paragraph = []string{text}
			}
		default:
			paragraph = append(paragraph, text)
		}
	}
	return all
}

func parseMarker(spec string) marker {
	m := marker{role: defaultRole}
	for part := range strings.SplitSeq(spec, ",") {
		key, value, _ := strings.Cut(part, "=")
		values := strings.Split(strings.Trim(value, `"`), ";")
		switch key {
		case "groups":
			m.groups = values
		case "resources":
			m.resources = values
		case "verbs":
			m.verbs = values
		case "resourceNames":
			m.names = slices.Sorted(slices.Values(values))
		case "namespace":
			m.namespace = value
		case "roleName":
			m.role = value
		}
	}
	return m
}

package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// TestBlocks reads every block: its info string, and what it holds.
func TestBlocks(t *testing.T) {
	schemas := compileSchemas(t)
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if err := checkBlock(schemas, b); err != nil {
				p.fault(b.first, "%v", err)
			}
		}
		for _, fault := range p.faults {
			t.Error(fault)
		}
	}
}

func checkBlock(schemas map[string]*jsonschema.Schema, b block) error {
	switch b.language {
	case "yaml":
		return checkYAML(schemas, b.text)
	case "json":
		return checkJSON(b.text)
	}
	return nil
}

func checkJSON(content string) error {
	decoder := json.NewDecoder(strings.NewReader(content))
	for {
		var value any
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// documents returns the documents of a YAML stream that hold something, as JSON.
func documents(content string) ([][]byte, error) {
	var all [][]byte
	reader := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(content)))
	defer func() { _ = reader.Close() }()
	buffer := make([]byte, 1<<20)
	for {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		encoded, err := yaml.YAMLToJSONStrict(buffer[:n])
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(encoded, []byte("null")) {
			all = append(all, encoded)
		}
	}
}

// object has the fields that tell a Kubernetes object from another document.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
	} `json:"metadata"`
}

// isObjects says whether a YAML block is of Kubernetes objects and of nothing else, so
// that an API server can be asked about it.
func isObjects(content string) bool {
	all, err := documents(content)
	for _, document := range all {
		var o object
		if json.Unmarshal(document, &o) != nil || o.APIVersion == "" || o.Kind == "" || o.Metadata.Name+o.Metadata.GenerateName == "" {
			return false
		}
	}
	return err == nil && len(all) > 0
}

var (
	partOf        = regexp.MustCompile(`^# part of an? (\w+)`)
	chartValues   = regexp.MustCompile(`^# (?:file: )?[a-z-]*values\.yaml(?:\s|$)`)
	configuration = regexp.MustCompile(`^# (?:file: )?config\.yaml(?:\s|$)`)
	saysWhat      = regexp.MustCompile(`^# \S`)
	ourGroup      = v1alpha1.GroupVersion.String()
	ourObject     = map[string]func() any{
		"ClusterMCPAuditPolicy": func() any { return &v1alpha1.ClusterMCPAuditPolicy{} },
		"MCPAuditException":     func() any { return &v1alpha1.MCPAuditException{} },
		"MCPAuditPolicy":        func() any { return &v1alpha1.MCPAuditPolicy{} },
		"MCPAuditReport":        func() any { return &v1alpha1.MCPAuditReport{} },
		"MCPServerAudit":        func() any { return &v1alpha1.MCPServerAudit{} },
	}
)

// checkConfiguration has the operator read its configuration.
func checkConfiguration(content string) error {
	file, err := os.CreateTemp("", "config-*.yaml")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.WriteString(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	o := options.Default()
	o.File, o.RunnerImage = file.Name(), "runner"
	return o.Load()
}

// checkValues holds values to the schema of the chart as helm does: laid over the
// chart's own, without which most of what is required is missing.
func checkValues(schema *jsonschema.Schema, all [][]byte) error {
	content, err := os.ReadFile(filepath.Join(root, "charts", "mcp-audit-operator", "values.yaml"))
	if err != nil {
		return err
	}
	for _, document := range all {
		var values, given map[string]any
		if err := errors.Join(yaml.Unmarshal(content, &values), json.Unmarshal(document, &given)); err != nil {
			return err
		}
		lay(values, given)
		whole, err := json.Marshal(values)
		if err != nil {
			return err
		}
		if err := validateAll(schema, [][]byte{whole}); err != nil {
			return err
		}
	}
	return nil
}

// lay puts one tree of values over another, key by key.
func lay(under, over map[string]any) {
	for key, value := range over {
		below, isMap := under[key].(map[string]any)
		if above, ok := value.(map[string]any); ok && isMap {
			lay(below, above)
			continue
		}
		under[key] = value
	}
}

// checkYAML holds a YAML block to its schema as far as it is of one of our kinds, or a
// part of one.
func checkYAML(schemas map[string]*jsonschema.Schema, content string) error {
	all, err := documents(content)
	if err != nil {
		return err
	}
	if !isObjects(content) && !saysWhat.MatchString(content) {
		return errors.New("neither Kubernetes objects nor a first line that says what it is, such as \"# file: NAME\" or \"# part of an MCPServerAudit\"")
	}
	if configuration.MatchString(content) {
		return checkConfiguration(content)
	}
	if chartValues.MatchString(content) {
		return checkValues(schemas["values"], all)
	}
	part := partOf.FindStringSubmatch(content)
	for _, document := range all {
		var o object
		if err := json.Unmarshal(document, &o); err != nil && part == nil {
			continue // no object: a list, say
		}
		kind := o.Kind
		if part != nil {
			kind = part[1]
		} else if o.APIVersion != ourGroup {
			continue
		}
		into := ourObject[kind]
		if into == nil {
			return fmt.Errorf("there is no kind %s in %s", kind, ourGroup)
		}
		unknown, err := kjson.UnmarshalStrict(document, into())
		if err := errors.Join(append(unknown, err)...); err != nil {
			return err
		}
		if part != nil {
			continue // what is required may be elsewhere
		}
		if err := validateAll(schemas[kind], [][]byte{document}); err != nil {
			return err
		}
	}
	return nil
}

func validateAll(schema *jsonschema.Schema, documents [][]byte) error {
	for _, document := range documents {
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err == nil {
			err = schema.Validate(instance)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

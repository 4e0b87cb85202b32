// Package imageindex parses image manifests and indexes, and chooses the manifest that nodes of a
// platform run. It is pure; packages imageref and image fetch its input.
//
// Publishers write these documents, and container runtimes differ in how they read unusual
// ones. A verdict must not depend on one such reading, so anything that two runtimes could read
// differently is ambiguous here: such a document is rejected (Read), an index with such a
// choice is marked (Choose).
package imageindex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrAmbiguous means that container runtimes could read a document differently.
var ErrAmbiguous = errors.New("container runtimes could read it in different ways")

// The supported media types, of the OCI image specification and of Docker's image manifest
// version 2, schema 2. Docker's schema 1 is rejected.
var (
	imageTypes = []string{"application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"}
	indexTypes = []string{"application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"}
)

// Document is an image manifest or an index.
type Document struct {
	// IsIndex reports whether it is an index.
	IsIndex bool

	children []descriptor
}

// descriptor is an index's entry for one manifest.
type descriptor struct {
	MediaType string          `json:"mediaType"`
	Digest    string          `json:"digest"`
	Size      int64           `json:"size"`
	URLs      []string        `json:"urls"`
	Data      string          `json:"data"`
	Platform  json.RawMessage `json:"platform"`

	Annotations map[string]string `json:"annotations"`
}

// Read parses a manifest or an index. mediaType was announced by the registry or by a
// descriptor; the content decides, and a contradiction is ErrAmbiguous.
func Read(body []byte, mediaType string) (Document, error) {
	var top struct {
		MediaType string          `json:"mediaType"`
		Manifests json.RawMessage `json:"manifests"`
		Config    json.RawMessage `json:"config"`
		Layers    json.RawMessage `json:"layers"`
		FSLayers  json.RawMessage `json:"fsLayers"`
	}
	if err := json.Unmarshal(body, &top); err != nil {
		return Document{}, errors.New("it is not the JSON of a manifest")
	}
	if err := checkKeys(body, knownKeys); err != nil {
		return Document{}, err
	}
	isIndex, isImage := top.Manifests != nil, top.Config != nil || top.Layers != nil
	switch {
	case top.FSLayers != nil:
		return Document{}, ambiguous("it has the fsLayers of Docker's schema 1")
	case isIndex == isImage:
		return Document{}, ambiguous("it has to be either an image manifest or an index")
	case isIndex && !slices.Contains(indexTypes, mediaType), isImage && !slices.Contains(imageTypes, mediaType):
		return Document{}, ambiguous("its media type is not that of its content")
	case top.MediaType != "" && top.MediaType != mediaType:
		return Document{}, ambiguous("it was announced with another media type than it states")
	case isImage:
		return Document{}, checkImage(top.Config, top.Layers)
	}
	read := Document{IsIndex: true}
	if err := json.Unmarshal(top.Manifests, &read.children); err != nil {
		return Document{}, errors.New("it is not the JSON of an index")
	}
	return read, nil
}

// checkImage rejects an image manifest whose config or layers could come from elsewhere than
// their digests.
func checkImage(config, layers json.RawMessage) error {
	var of descriptor
	if err := json.Unmarshal(config, &of); config == nil || err != nil || of.Digest == "" {
		return ambiguous("it has no config")
	}
	if of.Data != "" || len(of.URLs) > 0 {
		return ambiguous("its config is embedded, or fetched by a URL")
	}
	if bytes.Equal(bytes.TrimSpace(layers), []byte("null")) || layers == nil {
		return ambiguous("it has no layers")
	}
	return nil
}

// CheckConfig rejects an image config with duplicate fields, with a relevant field in another
// case, or that is not exactly one JSON object.
func CheckConfig(body []byte) error {
	if !json.Valid(body) {
		return ambiguous("its config is not JSON")
	}
	return checkKeys(body, configKeys)
}

func ambiguous(why string) error { return fmt.Errorf("%w: %s", ErrAmbiguous, why) }

// knownKeys are the fields of manifests and indexes by lower case, configKeys those of configs
// that affect what runs. Case-insensitive decoders take "Manifests" for "manifests", others do
// not.
var (
	knownKeys = byLowerCase(
		"schemaVersion", "mediaType", "artifactType", "config", "layers", "manifests", "subject", "fsLayers",
		"digest", "size", "urls", "data", "annotations", "platform",
		"architecture", "os", "os.version", "os.features", "variant", "features",
	)
	configKeys = byLowerCase("config", "Entrypoint", "Cmd", "Env", "WorkingDir", "User", "rootfs", "diff_ids")
)

func byLowerCase(names ...string) map[string]string {
	keys := map[string]string{}
	for _, key := range names {
		keys[strings.ToLower(key)] = key
	}
	return keys
}

// maps are the fields whose keys are data, which are case-sensitive.
var maps = []string{"annotations", "Labels", "ExposedPorts", "Volumes"}

// checkKeys rejects duplicate keys, ignoring case, and known keys in another case. The body
// must be JSON.
func checkKeys(body []byte, known map[string]string) error {
	return keys{json.NewDecoder(bytes.NewReader(body)), known}.value(false)
}

type keys struct {
	*json.Decoder

	known map[string]string
}

// value reads a value. isMap is for objects whose keys are data.
func (k keys) value(isMap bool) error {
	token, err := k.Token()
	if err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	switch token {
	case json.Delim('{'):
		if err := k.object(isMap); err != nil {
			return err
		}
	case json.Delim('['):
		for k.More() {
			if err := k.value(false); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	if _, err := k.Token(); err != nil { // the closing delimiter
		return fmt.Errorf("read JSON: %w", err)
	}
	return nil
}

func (k keys) object(isMap bool) error {
	seen := map[string]bool{}
	for k.More() {
		token, err := k.Token()
		if err != nil {
			return fmt.Errorf("read JSON: %w", err)
		}
		key, _ := token.(string) // the decoder allows only strings
		folded := key
		if !isMap {
			folded = strings.ToLower(strings.ToUpper(key)) // also for letters with several lower cases
		}
		if seen[folded] {
			return ambiguous("a field is there twice")
		}
		if written, known := k.known[folded]; known && !isMap && written != key {
			return ambiguous("a field is written in another case")
		}
		seen[folded] = true
		if err := k.value(slices.Contains(maps, key)); err != nil {
			return err
		}
	}
	return nil
}

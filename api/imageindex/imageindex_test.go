package imageindex_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/imageindex"
)

const (
	imageType = "application/vnd.oci.image.manifest.v1+json"
	indexType = "application/vnd.oci.image.index.v1+json"
	dockerV2  = "application/vnd.docker.distribution.manifest.v2+json"
	digest    = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

	config = `"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"` + digest + `","size":2}`
	child  = `{"mediaType":"` + imageType + `","digest":"` + digest + `","size":2,"platform":{"os":"linux","architecture":"amd64"}}`
)

func TestRead(t *testing.T) {
	const image = `{"schemaVersion":2,"mediaType":"` + imageType + `",` + config + `,"layers":[],"annotations":{"a":"1","A":"2","Size":"3"}}`
	const index = `{"schemaVersion":2,"manifests":[` + child + `]}`
	for _, test := range []struct {
		name, body, mediaType string
		want                  string // "image", "index", or a part of the error
	}{
		{"an image", image, imageType, "image"},
		{"an index", index, indexType, "index"},
		{"no media type of its own", "{" + config + `,"layers":[]}`, dockerV2, "image"},
		{"no JSON", "<html>", imageType, "not the JSON"},
		{"a list", "[]", imageType, "not the JSON"},
		{"something behind", image + "{}", imageType, "not the JSON"},
		{"manifests that are no list", `{"manifests":{}}`, indexType, "not the JSON"},
		{"neither", `{"schemaVersion":2}`, imageType, "either"},
		{"null", "null", imageType, "either"},
		{"S3: both", `{"manifests":[` + child + `],` + config + `,"layers":[]}`, indexType, "either"},
		{"S3: both, as a manifest", `{"manifests":[],` + config + `,"layers":[]}`, imageType, "either"},
		{"S3: manifests and layers", `{"manifests":[` + child + `],"layers":null}`, indexType, "either"},
		{"an index that is announced as an image", index, imageType, "media type"},
		{"an image that is announced as an index", image, indexType, "media type"},
		{"another media type than announced", image, dockerV2, "media type"},
		{"an unknown media type", image, "application/json", "media type"},
		{"Docker's schema 1", `{"schemaVersion":1,"fsLayers":[],"manifests":[` + child + `]}`, indexType, "schema 1"},
		{"a key twice", `{"manifests":[` + child + `],"manifests":[]}`, indexType, "twice"},
		{"a key twice, in another case", `{"manifests":[` + child + `],"Manifests":[]}`, indexType, "twice"},
		{"a key twice in a child", strings.Replace(index, `"size":2`, `"size":2,"digest":"x"`, 1), indexType, "twice"},
		{"a key twice in a platform", strings.Replace(index, `"os":"linux"`, `"os":"windows","OS":"linux"`, 1), indexType, "twice"},
		{"an annotation twice", strings.Replace(image, `"A"`, `"a"`, 1), imageType, "twice"},
		{"a letter with two lower cases", strings.Replace(index, `"os":"linux"`, `"os":"linux","oſ":"windows"`, 1), indexType, "twice"},
		{"another case", strings.Replace(index, `"manifests"`, `"Manifests"`, 1), indexType, "case"},
		{"another case in a platform", strings.Replace(index, `"os"`, `"OS"`, 1), indexType, "case"},
		{"an embedded config", strings.Replace(image, `"size":2`, `"size":2,"data":"e30="`, 1), imageType, "embedded"},
		{"a config by a URL", strings.Replace(image, `"size":2`, `"size":2,"urls":["https://a.example"]`, 1), imageType, "embedded"},
		{"no config", `{"layers":[]}`, imageType, "config"},
		{"an empty config", `{"config":{},"layers":[]}`, imageType, "config"},
		{"no layers", "{" + config + "}", imageType, "layers"},
		{"nulls for layers", "{" + config + `,"layers":null}`, imageType, "layers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			read, err := imageindex.Read([]byte(test.body), test.mediaType)
			switch {
			case test.want == "image" || test.want == "index":
				if err != nil || read.IsIndex != (test.want == "index") {
					t.Errorf("Read = %+v, %v", read, err)
				}
			case err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("Read = %v, want an error with %q", err, test.want)
			}
		})
	}
}

// TestChooseOf has what cannot be said in the types of containerd's code; the choice by
// platform is held to that code in test/containerd.
func TestChooseOf(t *testing.T) {
	for name, test := range map[string]struct {
		child string
		want  string // a part of what is ambiguous; empty: nothing is
	}{
		"as it has to be":            {child, ""},
		"platform.features":          {strings.Replace(child, `"os"`, `"features":["sse4"],"os"`, 1), "some nodes"},
		"an unknown platform field":  {strings.Replace(child, `"os"`, `"os.name":"x","os"`, 1), "cannot be read"},
		"a platform that is a list":  {strings.Replace(child, `{"os":"linux","architecture":"amd64"}`, `[]`, 1), "cannot be read"},
		"a platform that is null":    {strings.Replace(child, `{"os":"linux","architecture":"amd64"}`, `null`, 1), "without a platform"},
		"embedded":                   {strings.Replace(child, `"size":2`, `"size":2,"data":"e30="`, 1), "some nodes"},
		"by a URL":                   {strings.Replace(child, `"size":2`, `"size":2,"urls":["https://a.example"]`, 1), "some nodes"},
		"a digest of another kind":   {strings.Replace(child, `"digest":"sha256:`, `"digest":"sha512:`, 1), "cannot be read"},
		"an architecture of nowhere": {strings.Replace(child, `"amd64"`, `"z80"`, 1), "canonical"},
	} {
		t.Run(name, func(t *testing.T) {
			good := strings.Replace(child, "sha256:0a", "sha256:ff", 1)
			for _, children := range []string{test.child, test.child + "," + strings.Replace(good, "amd64", "arm64", 1), good + "," + test.child} {
				read, err := imageindex.Read([]byte(`{"manifests":[`+children+`]}`), indexType)
				if err != nil {
					t.Fatal(err)
				}
				choice, err := read.Choose("amd64")
				switch {
				case errors.Is(err, imageindex.ErrNoPlatform) && test.want != "":
				case err != nil:
					t.Error(err)
				case test.want == "" && strings.HasPrefix(children, good):
					if !strings.Contains(choice.Ambiguous, "2 manifests") {
						t.Errorf("two of the same: %q", choice.Ambiguous)
					}
				case (test.want == "") != (choice.Ambiguous == ""):
					t.Errorf("%s: ambiguous is %q, want %q", children, choice.Ambiguous, test.want)
				}
			}
		})
	}
}

func TestFitting(t *testing.T) {
	entry := func(last, mediaType, platform string) string {
		return `{"mediaType":"` + mediaType + `","digest":"` + digest[:len(digest)-1] + last + `","size":2` + platform + `}`
	}
	amd64 := func(more string) string { return `,"platform":{"os":"linux","architecture":"amd64"` + more + `}` }
	for name, test := range map[string]struct {
		children []string
		want     string // the last digits of the digests
	}{
		"one":                     {[]string{entry("1", imageType, amd64(""))}, "1"},
		"another architecture":    {[]string{entry("1", imageType, strings.Replace(amd64(""), "amd64", "arm64", 1)), entry("2", imageType, amd64(""))}, "2"},
		"another system":          {[]string{entry("1", imageType, strings.Replace(amd64(""), "linux", "windows", 1))}, ""},
		"no platform":             {[]string{entry("1", imageType, ""), entry("2", imageType, `,"platform":null`)}, "12"},
		"an index":                {[]string{entry("1", indexType, "")}, "1"},
		"an index of others":      {[]string{entry("1", indexType, `,"platform":{"os":"linux","architecture":"s390x"}`)}, ""},
		"the same twice":          {[]string{entry("1", imageType, amd64("")), entry("1", imageType, amd64(""))}, "1"},
		"a variant beside any":    {[]string{entry("1", imageType, amd64(`,"variant":"v3"`)), entry("2", imageType, amd64(""))}, "2"},
		"variants only":           {[]string{entry("1", imageType, amd64(`,"variant":"v2"`)), entry("2", imageType, amd64(`,"variant":"v3"`))}, "12"},
		"an attestation":          {[]string{entry("1", imageType, amd64("")), entry("2", imageType, amd64("")+`,"annotations":{"vnd.docker.reference.type":"attestation-manifest"}`)}, "1"},
		"an unknown field":        {[]string{entry("1", imageType, amd64(`,"x":1`))}, "1"},
		"something else":          {[]string{entry("1", "application/vnd.cncf.helm.config.v1+json", amd64(""))}, ""},
		"a platform that is none": {[]string{entry("1", imageType, `,"platform":[]`)}, ""},
	} {
		read, err := imageindex.Read([]byte(`{"manifests":[`+strings.Join(test.children, ",")+`]}`), indexType)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range read.Fitting("amd64") {
			got += e.Digest[len(e.Digest)-1:]
			if e.IsIndex != strings.Contains(test.children[0], indexType) {
				t.Errorf("%s: IsIndex is %t", name, e.IsIndex)
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestCheckConfig(t *testing.T) {
	for body, ok := range map[string]bool{
		`{"os":"linux","config":{"Entrypoint":["/a"],"Labels":{"a":"1","A":"2"}}}`: true,
		`{"os":"linux","config":{"Entrypoint":["/a"],"Entrypoint":["/b"]}}`:        false,
		`{"os":"linux","config":{"Entrypoint":["/a"],"entrypoint":["/b"]}}`:        false,
		`{"config":{"Labels":{"a":"1","a":"2"}}}`:                                  false,
		`{"config":{"entrypoint":["/a"],"Cmd":["/b"]}}`:                            false, // R12
		`{"config":{"Labels":{"entrypoint":"a"}}}`:                                 true,
		`{"config":{"Cmd":["/a"]}}{}`:                                              false,
	} {
		if err := imageindex.CheckConfig([]byte(body)); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"manifests":[`+child+`]}`), indexType)
	f.Add([]byte("{"+config+`,"layers":[]}`), imageType)
	f.Fuzz(func(t *testing.T, body []byte, mediaType string) {
		read, err := imageindex.Read(body, mediaType)
		if err != nil {
			return
		}
		var document map[string]json.RawMessage
		err = json.Unmarshal(body, &document)
		_, isIndex := document["manifests"]
		_, isImage := document["config"]
		if err != nil || isIndex != read.IsIndex || isImage == read.IsIndex {
			t.Errorf("IsIndex is %t of %s (%v)", read.IsIndex, body, err)
		}
		if choice, err := read.Choose("amd64"); err == nil && !strings.Contains(string(body), choice.Digest) {
			t.Errorf("chose %s of %s", choice.Digest, body)
		}
	})
}

package oci

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// searchPath is the PATH of a Debian image.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Config says how an image is run.
type Config struct {
	Entrypoint []string
	Cmd        []string
	Env        []string // KEY=VALUE; PATH is added
	User       string   // UID or UID:GID; root if empty
	WorkingDir string

	Architecture string // this machine's if empty
	Labels       map[string]string
	Created      time.Time // 1970 if zero
}

// Image joins layers, lowest first, into an OCI image. Equal arguments give an equal digest.
func Image(config Config, layers ...v1.Layer) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.AppendLayers(base, layers...)
	if err != nil {
		return nil, fmt.Errorf("append layers: %w", err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read image config: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", cmp.Or(config.Architecture, runtime.GOARCH), v1.Time{Time: epoch}
	if !config.Created.IsZero() {
		file.Created.Time = config.Created.UTC()
	}
	file.Config = v1.Config{
		Entrypoint: config.Entrypoint, Cmd: config.Cmd, Env: append([]string{searchPath}, config.Env...),
		User: config.User, WorkingDir: config.WorkingDir, Labels: config.Labels,
	}
	if img, err = mutate.ConfigFile(img, file); err != nil {
		return nil, fmt.Errorf("set image config: %w", err)
	}
	return img, nil
}

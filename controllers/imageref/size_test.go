package imageref

import (
	"math"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
)

// TestL8SizeIsSummed: also where the numbers of a manifest would overflow.
func TestL8SizeIsSummed(t *testing.T) {
	for name, test := range map[string]struct {
		layers []int64
		want   int64
	}{
		"some":     {[]int64{10, 20}, 130},
		"negative": {[]int64{10, -1}, math.MaxInt64},
		"overflow": {[]int64{math.MaxInt64 - 1, 1 << 40}, math.MaxInt64},
	} {
		image := declared{empty.Image, test.layers}
		if got, err := sizeOf(image); err != nil || got != test.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, test.want)
		}
	}
}

// declared is an image whose manifest declares layers of some sizes.
type declared struct {
	v1.Image
	sizes []int64
}

func (d declared) Manifest() (*v1.Manifest, error) {
	manifest := &v1.Manifest{Config: v1.Descriptor{Size: 100}}
	for _, size := range d.sizes {
		manifest.Layers = append(manifest.Layers, v1.Descriptor{Size: size})
	}
	return manifest, nil
}

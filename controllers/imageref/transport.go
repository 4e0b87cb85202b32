package imageref

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody is the most bytes that are read of one answer. Manifests and configs
// are far smaller; a registry is named by a tenant and may send anything, and the
// workers read it, and decode it, at the same time.
const maxBody = 2 << 20

// errLarge says that an answer is no manifest and no config.
var errLarge = errors.New("answer is too large")

// limited cuts answers off at maxBody.
type limited struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	// A HEAD of a layer may announce any length; only a body is read.
	if request.Method != http.MethodHead && response.ContentLength > maxBody {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%w: it has %d bytes, and at most %d are read", errLarge, response.ContentLength, maxBody)
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxBody), response.Body}
	return response, nil
}

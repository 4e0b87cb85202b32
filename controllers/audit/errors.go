package audit

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// How a step ends when the next one is not to be taken. Any other error is one
// that is tried again with the work queue's own back-off.
var (
	// errRest: there is nothing to do.
	errRest = errors.New("nothing to do")
	// errStale: the cache lags behind; what was decided on it is not written.
	errStale = errors.New("the cache is stale")
)

// staleAfter is when a stale cache is looked at again.
const staleAfter = time.Second

// waiting: something else has to happen first. The conditions say what.
type waiting struct {
	// after is when to look again; 0 if a watch will tell.
	after time.Duration
}

func (waiting) Error() string { return "waiting" }

// isRefusal reports whether the API server said no, rather than not now or nothing
// at all. The code decides: an admission webhook may refuse without a reason.
func isRefusal(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	switch code := answer.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	case http.StatusConflict:
		return apierrors.IsAlreadyExists(err)
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

// Package apierr classifies the errors of the API server.
package apierr

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsRefusal reports whether the API server refused a request for good. The status code decides:
// an admission webhook may refuse without a reason.
func IsRefusal(err error) bool {
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

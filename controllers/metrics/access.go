package metrics

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Token and access reviews for the metrics endpoint, as in kubelets.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// How long and for how many tokens the API server's answers are cached, and the timeout of a
// review.
const (
	accessAge     = time.Minute
	accessTokens  = 128
	accessTimeout = 10 * time.Second
)

// Access authorizes requests whose bearer token the API server accepts for "get" on the path,
// such as by the ClusterRole mcpaudit-metrics-reader. It replaces
// filters.WithAuthenticationAndAuthorization of controller-runtime, which adds 28 MB of
// k8s.io/apiserver; client certificates are not accepted.
func Access(config *rest.Config, client *http.Client) (server.Filter, error) {
	clients, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("create client of token reviews: %w", err)
	}
	return newAccess(clients).filter, nil
}

type access struct {
	clients kubernetes.Interface
	known   *cache.LRUExpireCache // HTTP status by hash of token, verb and path
}

func newAccess(clients kubernetes.Interface) *access {
	return &access{clients, cache.NewLRUExpireCache(accessTokens)}
}

func (a *access) filter(log logr.Logger, next http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		status, err := a.check(request)
		if err != nil {
			log.Error(err, "Could not ask the API server who reads the metrics")
		}
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
			return
		}
		next.ServeHTTP(w, request)
	}), nil
}

// check returns the HTTP status for a request. Errors are not cached.
func (a *access) check(request *http.Request) (int, error) {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return http.StatusUnauthorized, nil
	}
	attributes := authorizationv1.NonResourceAttributes{Path: request.URL.Path, Verb: strings.ToLower(request.Method)}
	key := sha256.Sum256([]byte(token + "\x00" + attributes.Verb + "\x00" + attributes.Path))
	if status, ok := a.known.Get(key); ok {
		return status.(int), nil
	}
	ctx, cancel := context.WithTimeout(request.Context(), accessTimeout)
	defer cancel()
	status, err := a.ask(ctx, token, attributes)
	if err != nil {
		return http.StatusInternalServerError, err
	}
	a.known.Add(key, status, accessAge)
	return status, nil
}

func (a *access) ask(ctx context.Context, token string, attributes authorizationv1.NonResourceAttributes) (int, error) {
	who, err := a.clients.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return 0, fmt.Errorf("review token: %w", err)
	case !who.Status.Authenticated:
		return http.StatusUnauthorized, nil
	}
	user := who.Status.User
	extra := map[string]authorizationv1.ExtraValue{}
	for name, values := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	may, err := a.clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra, NonResourceAttributes: &attributes,
		},
	}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return 0, fmt.Errorf("review access: %w", err)
	case !may.Status.Allowed:
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

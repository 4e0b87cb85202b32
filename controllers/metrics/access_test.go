package metrics

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
)

// clusterOf knows the tokens of two service accounts, of which one may read /metrics.
func clusterOf(t *testing.T) (*fake.Clientset, *int, *error) {
	t.Helper()
	asked, failure := new(int), new(error)
	clients := fake.NewClientset()
	clients.PrependReactor("create", "tokenreviews", func(action k8stesting.Action) (bool, runtime.Object, error) {
		*asked++
		review := action.(k8stesting.CreateAction).GetObject().(*authenticationv1.TokenReview).DeepCopy()
		if token := review.Spec.Token; token == "prometheus" || token == "stranger" {
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{
				Username: token, Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"e": {"v"}},
			}}
		}
		return true, review, *failure
	})
	clients.PrependReactor("create", "subjectaccessreviews", func(action k8stesting.Action) (bool, runtime.Object, error) {
		review := action.(k8stesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		spec := review.Spec
		review.Status.Allowed = spec.User == "prometheus" && *spec.NonResourceAttributes == authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"} &&
			len(spec.Groups) == 1 && len(spec.Extra["e"]) == 1
		return true, review, nil
	})
	return clients, asked, failure
}

func TestAccess(t *testing.T) {
	clients, asked, failure := clusterOf(t)
	handler, err := newAccess(clients).filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "numbers")
	}))
	if err != nil {
		t.Fatal(err)
	}
	get := func(method, path, authorization string) (int, string) {
		request := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		if authorization != "" {
			request.Header.Set("Authorization", authorization)
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer.Code, answer.Body.String()
	}
	for _, test := range []struct {
		name, method, path, authorization string
		want                              int
	}{
		{"who may", "GET", "/metrics", "Bearer prometheus", 200},
		{"who may, in other letters", "GET", "/metrics", "bearer  prometheus", 200},
		{"who may not", "GET", "/metrics", "Bearer stranger", 403},
		{"another path", "GET", "/debug/pprof", "Bearer prometheus", 403},
		{"another verb", "POST", "/metrics", "Bearer prometheus", 403},
		{"a token that is none", "GET", "/metrics", "Bearer nobody", 401},
		{"no token", "GET", "/metrics", "Bearer ", 401},
		{"a password", "GET", "/metrics", "Basic cHJvbWV0aGV1cw==", 401},
		{"nothing", "GET", "/metrics", "", 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, body := get(test.method, test.path, test.authorization)
			if status != test.want || (body == "numbers") != (test.want == 200) {
				t.Errorf("%s %s with %q = %d %q, want %d", test.method, test.path, test.authorization, status, body, test.want)
			}
		})
	}

	before := *asked
	for range 10 {
		get("GET", "/metrics", "Bearer prometheus")
		get("GET", "/metrics", "Bearer nobody")
	}
	if *asked != before {
		t.Errorf("the API server was asked %d more times about known tokens", *asked-before)
	}

	*failure = errors.New("no route to host")
	if status, _ := get("GET", "/metrics", "Bearer new"); status != 500 {
		t.Errorf("while the API server is away a new token gets %d, want 500", status)
	}
	*failure = nil
	if status, _ := get("GET", "/metrics", "Bearer new"); status != 401 {
		t.Errorf("after that it gets %d, want to be asked about again: 401", status)
	}
}

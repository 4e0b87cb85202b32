package audit

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAllowPullSecret(t *testing.T) {
	for _, test := range []struct{ name, denied, account string }{
		{"as it is installed", `User "system:serviceaccount:security:auditor" cannot get resource "secrets"`, "security:auditor"},
		{"as somebody else", `User "jane" cannot get resource "secrets"`, "mcpaudit-system:mcpaudit-manager"},
		{"with a name that would run on", `User "system:serviceaccount:a:b;reboot" cannot`, "mcpaudit-system:mcpaudit-manager"},
	} {
		t.Run(test.name, func(t *testing.T) {
			denied := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "registry", errors.New(test.denied))
			got := allowPullSecret(denied, "team-a", "registry")
			want := "Allow it: `kubectl create rolebinding mcpaudit-pull-secret-reader --namespace=team-a " +
				"--clusterrole=mcpaudit-pull-secret-reader --serviceaccount=" + test.account + "`"
			if !strings.HasSuffix(got, want) || !strings.Contains(got, "the secret registry of namespace team-a") {
				t.Errorf("allowPullSecret = %s\nwant the command %s", got, want)
			}
		})
	}
}

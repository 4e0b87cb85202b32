//go:build envtest

package offline_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var (
	api    client.Client
	config *rest.Config
)

const managerUser = "system:serviceaccount:mcpaudit-system:mcpaudit-manager"

// bindAdmins gives the group admins all rights.
func bindAdmins(ctx context.Context) {
	GinkgoHelper()
	Expect(api.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: admins}, Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: admins}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	})).To(Succeed())
}

// as is a client of somebody else.
func as(user string, groups ...string) client.Client {
	GinkgoHelper()
	other := rest.CopyConfig(config)
	other.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	c, err := client.New(other, client.Options{Scheme: api.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// gated makes a namespace in the gate for one spec.
func gated(ctx context.Context) string {
	GinkgoHelper()
	return testenv.Namespace(ctx, map[string]string{v1alpha1.GateLabel: v1alpha1.GateEnabled})
}

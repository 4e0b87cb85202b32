package audit

import (
	"fmt"
	"regexp"
)

// pullSecretReader is the ClusterRole that a namespace binds to let the manager
// read its pull secrets, and the name of the binding in the command that we give.
const pullSecretReader = "mcpaudit-pull-secret-reader"

// defaultAccount is the service account of config/rbac.
const defaultAccount = "mcpaudit-system:mcpaudit-manager"

// deniedAccount finds the service account in the API server's refusal, which
// names the user: the operator may be installed under another name.
var deniedAccount = regexp.MustCompile(`"system:serviceaccount:([a-z0-9-]{1,63}:[a-z0-9.-]{1,253})"`)

// allowPullSecret says what lets the manager read a pull secret. The manager has
// no access to secrets of its own: whoever owns the namespace grants it. The command
// is quoted, because the sentence around it ends with a period.
func allowPullSecret(denied error, namespace, secret string) string {
	account := defaultAccount
	if match := deniedAccount.FindStringSubmatch(denied.Error()); match != nil {
		account = match[1]
	}
	return fmt.Sprintf("the manager may not read the secret %s of namespace %s. Allow it: `kubectl create rolebinding %s --namespace=%s --clusterrole=%s --serviceaccount=%s`",
		secret, namespace, pullSecretReader, namespace, pullSecretReader, account)
}

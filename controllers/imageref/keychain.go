package imageref

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"
)

// ErrBadSecret means that a pull secret is missing, of another type than
// kubernetes.io/dockerconfigjson, or unreadable. It does not tell which.
var ErrBadSecret = errors.New("pull secret cannot be used")

// BadSecret is ErrBadSecret for a name. It reveals no more, as audit authors read the error and
// could name any Secret.
func BadSecret(name string) error {
	return fmt.Errorf("%w: %s must be a Secret of type %s in the namespace of the audit, with credentials that can be read",
		ErrBadSecret, name, corev1.SecretTypeDockerConfigJson)
}

// CheckSecret returns BadSecret unless the Secret is a pull secret.
func CheckSecret(secret corev1.Secret) error {
	_, err := parse(secret)
	return err
}

// keychain holds the credentials of pull secrets. As with the kubelet, the most specific entry
// for a repository wins; between equals, the first secret.
type keychain []entry

type entry struct {
	// where is a registry, optionally with a path prefix.
	where string
	authn.AuthConfig
}

// newKeychain reads pull secrets of type kubernetes.io/dockerconfigjson.
func newKeychain(secrets []corev1.Secret) (keychain, error) {
	var all keychain
	for _, secret := range secrets {
		entries, err := parse(secret)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return len(b.where) - len(a.where) })
	return all, nil
}

func parse(secret corev1.Secret) ([]entry, error) {
	if secret.Type != corev1.SecretTypeDockerConfigJson {
		return nil, BadSecret(secret.Name)
	}
	var config struct {
		Auths map[string]struct {
			Username string `json:"username"`
			Password string `json:"password"`
			Auth     string `json:"auth"`
			Token    string `json:"identitytoken"`
		} `json:"auths"`
	}
	if json.Unmarshal(secret.Data[corev1.DockerConfigJsonKey], &config) != nil {
		return nil, BadSecret(secret.Name)
	}
	var entries []entry
	for server, auth := range config.Auths {
		e := entry{normalise(server), authn.AuthConfig{Username: auth.Username, Password: auth.Password, IdentityToken: auth.Token}}
		if auth.Auth != "" {
			plain, err := base64.StdEncoding.DecodeString(auth.Auth)
			user, password, ok := strings.Cut(string(plain), ":")
			if err != nil || !ok {
				return nil, BadSecret(secret.Name)
			}
			e.Username, e.Password = user, password
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.where, b.where) })
	return entries, nil
}

// normalise unifies docker's spellings of a registry.
func normalise(server string) string {
	server = strings.TrimPrefix(strings.TrimPrefix(server, "https://"), "http://")
	server = strings.TrimSuffix(server, "/")
	server = strings.TrimSuffix(strings.TrimSuffix(server, "/v1"), "/v2")
	if server == "docker.io" || server == "registry-1.docker.io" {
		return "index.docker.io"
	}
	return server
}

// Resolve returns the credentials for a repository, or none.
func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	for _, e := range k {
		if e.matches(target) {
			return authn.FromConfig(e.AuthConfig), nil
		}
	}
	return authn.Anonymous, nil
}

// matches compares the registry as the kubelet does, where "*" stays within a part of the host
// name, and the path by whole elements.
func (e entry) matches(target authn.Resource) bool {
	host, prefix, _ := strings.Cut(e.where, "/")
	if !isHost(host, target.RegistryStr()) {
		return false
	}
	repository := strings.TrimPrefix(target.String(), target.RegistryStr()+"/")
	return prefix == "" || repository == prefix || strings.HasPrefix(repository, prefix+"/")
}

// isHost compares a pattern with a registry's "host[:port]".
func isHost(pattern, registry string) bool {
	name, port, _ := strings.Cut(pattern, ":")
	host, own, _ := strings.Cut(registry, ":")
	return port == own && slices.EqualFunc(strings.Split(name, "."), strings.Split(host, "."), func(pattern, part string) bool {
		ok, err := path.Match(pattern, part)
		return ok && err == nil
	})
}

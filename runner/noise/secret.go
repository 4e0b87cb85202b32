package noise

import (
	"path"
	"strings"
)

// secretFiles and secretPlaces are secret wherever they are, for a key is a key
// also among the libraries. Neither list can do harm by being too long: what is
// in them is only kept in the profile.
var (
	secretFiles = set("id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "authorized_keys", "known_hosts", ".env", ".netrc",
		".npmrc", ".pypirc", ".git-credentials", ".gitconfig", ".pgpass", ".claude.json", ".vault-token", ".bashrc",
		".profile", ".zshrc", "environ", "mem", "shadow", "gshadow", "credentials", "docker.sock", "containerd.sock")
	secretPlaces = []string{"/.ssh/", "/.aws/", "/.azure/", "/.kube/", "/.docker/", "/.gnupg/", "/.config/gcloud/",
		"/.config/gh/", "/ssl/private/", "/pki/tls/private/", "/serviceaccount/", "/run/secrets/", "/.env."}
)

// Secret reports whether a path is one that secrets usually have.
func Secret(name string) bool {
	lower := strings.ToLower(name)
	if secretFiles[path.Base(lower)] {
		return true
	}
	for _, place := range secretPlaces {
		if strings.Contains(lower, place) {
			return true
		}
	}
	return false
}

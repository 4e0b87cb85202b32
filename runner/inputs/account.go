package inputs

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
)

// AccountFiles are credentials files, relative to Options.Dir, for servers that get the path by a variable. A server
// may write new tokens to one. They are hidden, so no argument names them.
var AccountFiles = []string{Word + "-account/.credentials.json", Word + "-account/.token.json", Word + "-account/.account.json"}

// accounts returns these files. All have the same text, with everything that services issue to programs: an OAuth
// client, its tokens, and a service account with its key. A program reads the part that it knows.
func accounts() (files []File) {
	client := map[string]any{
		"client_id": "407408718192-shop.apps.googleusercontent.com", "client_secret": "shop-desktop", "project_id": "shop",
		"auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": "https://oauth2.googleapis.com/token",
		"redirect_uris": []string{"http://localhost"},
	}
	all := map[string]any{
		"installed": client,
		"type":      "service_account", "client_email": "shop@shop.iam.gserviceaccount.com", "private_key_id": "4f6b1c1e", "private_key": serviceKey(),
		"access_token": "shop-access", "token": "shop-access", "refresh_token": "shop-refresh", "token_type": "Bearer",
		"scope": "openid email", "expiry": "2099-01-01T00:00:00Z", "expiry_date": 4070908800000,
	}
	for name, value := range client {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts and numbers can be encoded
	}
	for _, name := range AccountFiles {
		files = append(files, File{name, append(text, '\n')})
	}
	return files
}

// serviceKey makes a valid key, because libraries parse it before they send anything.
func serviceKey() string {
	const bits = 2048
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err) // RSA keys can be encoded
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

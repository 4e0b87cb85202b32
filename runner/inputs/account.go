package inputs

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
)

// AccountFiles are files of credentials, relative to Options.Dir, for servers that are told by
// variables where theirs are; they may write to one of them what they got for another. They
// are hidden: arguments of tools do not speak of them.
var AccountFiles = []string{Word + "-account/.credentials.json", Word + "-account/.token.json", Word + "-account/.account.json"}

// accounts have the same text: in one, what services hand out to programs: the client of OAuth, the tokens
// that it got, and the account of a service with its key. A program reads the part that it
// knows.
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
		panic(err) // it has texts and numbers only
	}
	for _, name := range AccountFiles {
		files = append(files, File{name, append(text, '\n')})
	}
	return files
}

// serviceKey makes a key that libraries accept: they read it before they ask for anything.
func serviceKey() string {
	const bits = 2048
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err) // only a source of random numbers that fails has it fail
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err) // it is one of the kinds that are known
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

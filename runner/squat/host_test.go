package squat

import "testing"

// An address that imitates one at which people sign in is told from those that are near it
// by their owner, or by chance.
func TestHost(t *testing.T) {
	for host, want := range map[string]string{
		"paypa1.com": "paypal.com", "g1thub.com": "github.com", "githuub.com": "github.com", "rnicrosoft.com": "microsoft.com", "gtihub.com": "github.com",
		"github.com.auth.example": "github.com", "accounts.google.com.signin.example": "google.com", "github-login.com": "github.com", "secure-paypal.net": "paypal.com",
		"xn--pypal-4ve.com": "paypal.com", "gооgle.com": "google.com", "login.microsoftonline.com-verify.example": "microsoftonline.com", "accounts.g00gle-signin.com": "google.com", "secure-paypa1.net": "paypal.com",
		"paypal.com.google.com.google.zip": "paypal.com",
		"github.com":                       "", "docs.github.com": "", "gitlab.com": "", "google.com.br": "", "amazon.co.uk": "", "accounts.google.com": "", "example.com": "", "raw.githubusercontent.com": "",
		"github.io": "", "paypal.me": "", "microsoft.net": "", "githubs.example": "", "localhost": "", "10.0.0.1": "", "github-readme-stats.vercel.app": "", "stripes.com": "", "googleapis.com": "",
	} {
		got, ok := Host(host)
		if ok != (want != "") || ok && got.Known != want {
			t.Errorf("%s: %+v, %t; want %q", host, got, ok, want)
		}
	}
}

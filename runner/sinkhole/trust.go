package sinkhole

import (
	"slices"
	"strings"
)

// AuthorityName is the base name of the file with the authority's certificate. Reading it says nothing about a server.
const AuthorityName = "marlow-ca.crt"

// trusted are the environment variables that name the CA bundle: OpenSSL, Go and most others, Node.js, Python's requests and pip, curl,
// Git, AWS, Google Cloud, gRPC, Deno, Nix, Rust's cargo, npm.
var trusted = []string{
	"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO",
	"AWS_CA_BUNDLE", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "DENO_CERT",
	"NIX_SSL_CERT_FILE", "CARGO_HTTP_CAINFO",
}

// Untold returns env without the variables of Environment.
func Untold(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(trusted, name)
	})
}

// Environment returns variables that make programs trust the certificate in file. Variables
// of the operator go before them.
func Environment(file string) []string {
	all := make([]string, len(trusted))
	for i, name := range trusted {
		all[i] = name + "=" + file
	}
	return all
}

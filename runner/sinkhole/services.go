package sinkhole

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// service returns a JSON document for a request of its own, or nil. Fields that callers
// miss are added to it.
type service func(r *http.Request, sent []byte) any

// services are the known services.
var services = []service{oauth, deviceCode, openID, elasticsearch, clickHouse, kubernetes, docker, slack, discord, prometheus, model}

// document returns the answer of the service that knows a request; nil if none does.
func document(r *http.Request, sent []byte) any {
	for _, answer := range services {
		if found := answer(r, sent); found != nil {
			return found
		}
	}
	return nil
}

// oauth grants tokens (RFC 6749, 5.1).
func oauth(r *http.Request, sent []byte) any {
	grants := bytes.Contains(sent, []byte("grant_type"))
	if r.Method != http.MethodPost || !grants && !strings.HasSuffix(r.URL.Path, "/token") && !strings.HasSuffix(r.URL.Path, "/access_token") {
		return nil
	}
	return map[string]any{
		"access_token": "note", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "note", "scope": "note",
		"id": address(r, "/id"), "instance_url": address(r, ""), "token": "note", "expires_at": moment,
	}
}

// device matches the paths where a program without a browser asks for a code (RFC 8628, 3.1).
var device = lazyregexp.New(`(?i)/device(?:[_/-]?codes?|[_/-]auth\w*)/?$`)

// deviceCode returns a code that the next request exchanges for a token (RFC 8628, 3.2), since nobody is there to
// enter it.
func deviceCode(r *http.Request, _ []byte) any {
	if r.Method != http.MethodPost || !device.MatchString(r.URL.Path) {
		return nil
	}
	return map[string]any{
		"device_code": "note", "user_code": "NOTE-NOTE", "verification_uri": address(r, "/device"), "verification_url": address(r, "/device"),
		"verification_uri_complete": address(r, "/device?user_code=NOTE-NOTE"), "expires_in": 900, "interval": 1, "message": "Enter the code NOTE-NOTE.",
	}
}

// openID returns the metadata of an authorization server (OpenID Connect Discovery 1.0, 3;
// RFC 8414, 2).
func openID(r *http.Request, _ []byte) any {
	if !strings.Contains(r.URL.Path, "/.well-known/openid-configuration") && !strings.Contains(r.URL.Path, "/.well-known/oauth-authorization-server") {
		return nil
	}
	return map[string]any{
		"issuer": address(r, ""), "authorization_endpoint": address(r, "/authorize"), "token_endpoint": address(r, "/token"), "jwks_uri": address(r, "/jwks"),
		"userinfo_endpoint": address(r, "/userinfo"), "device_authorization_endpoint": address(r, "/device/code"), "response_types_supported": []string{"code"}, "grant_types_supported": []string{"client_credentials"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		"code_challenge_methods_supported": []string{"S256"},
	}
}

// slack answers auth.test (docs.slack.dev): clients take the workspace from the URL. There is a user and a channel, for
// clients that load these at start-up and end without.
func slack(r *http.Request, _ []byte) any {
	user := map[string]any{"id": "U00000001", "team_id": "T00000001", "name": "note", "real_name": "note", "profile": map[string]any{"real_name": "note", "display_name": "note"}}
	channel := map[string]any{"id": "C00000001", "name": "note", "name_normalized": "note", "is_channel": true, "is_member": true, "num_members": 1,
		"topic": map[string]any{"value": "note"}, "purpose": map[string]any{"value": "note"}}
	done := map[string]any{"next_cursor": ""}
	switch r.URL.Path {
	case "/api/auth.test":
		return map[string]any{"ok": true, "url": "https://note." + r.Host + "/", "team": "note", "user": "note", "team_id": "T00000001", "user_id": "U00000001"}
	case "/api/users.list":
		return map[string]any{"ok": true, "members": []any{user}, "response_metadata": done}
	case "/api/conversations.list", "/api/users.conversations":
		return map[string]any{"ok": true, "channels": []any{channel}, "response_metadata": done}
	}
	return nil
}

// metrics matches the paths of Prometheus and Loki (prometheus.io/docs, HTTP API; grafana.com/docs/loki, HTTP API).
var metrics = lazyregexp.New(`(/loki)?/api/v1/(query|query_range|labels?|series|metadata|targets|rules|alerts|patterns|index/(?:stats|volume)|label/[^/]+/values)$`)

// prometheus has one series without samples.
func prometheus(r *http.Request, sent []byte) any {
	asked := metrics.FindStringSubmatch(r.URL.Path)
	if asked == nil || !asksMetrics(r, sent) {
		return nil
	}
	series := map[string]any{"__name__": "note", "job": "note", "instance": "note"}
	what, kind := asked[2], "vector"
	switch {
	case asked[1] != "":
		kind = "streams"
	case what == "query_range":
		kind = "matrix"
	}
	data, known := map[string]any{
		"query":        map[string]any{"resultType": kind, "result": []any{}},
		"query_range":  map[string]any{"resultType": kind, "result": []any{}},
		"index/volume": map[string]any{"resultType": "vector", "result": []any{}},
		"series":       []any{series},
		"patterns":     []any{},
		"metadata":     map[string]any{"note": []any{map[string]any{"type": "gauge", "help": "note", "unit": ""}}},
		"targets": map[string]any{"droppedTargets": []any{}, "activeTargets": []any{map[string]any{
			"labels": series, "discoveredLabels": series, "scrapePool": "note", "scrapeUrl": address(r, "/metrics"), "health": "up", "lastError": "", "lastScrape": moment,
		}}},
		"rules":  map[string]any{"groups": []any{}},
		"alerts": map[string]any{"alerts": []any{}},
	}[what]
	switch {
	case what == "index/stats":
		return map[string]any{"streams": 1, "chunks": 1, "entries": 1, "bytes": 1}
	case !known:
		data = []string{"note"}
	}
	return map[string]any{"status": "success", "data": data}
}

// asksMetrics reports whether a request is for Prometheus or Loki: other services have similar paths, but not their
// parameters.
func asksMetrics(r *http.Request, sent []byte) bool {
	form, _ := url.ParseQuery(string(sent)) // what is no form has no parameters
	for _, parameter := range []string{"query", "match[]"} {
		if form.Has(parameter) || r.URL.Query().Has(parameter) {
			return true
		}
	}
	return slices.ContainsFunc([]string{"loki", "prometheus", "thanos", "/datasources/", ":9090", ":3100"}, func(part string) bool { return strings.Contains(r.Host+r.URL.Path, part) })
}

// Paths of Elasticsearch and OpenSearch.
var (
	searches  = lazyregexp.New(`/_(?:search|msearch|async_search)\b`)
	catalogue = lazyregexp.New(`^/_cat/`)
)

func elastic(r *http.Request) bool {
	return r.Header.Get("X-Elastic-Client-Meta") != "" || strings.Contains(r.Header.Get("Accept"), "elasticsearch") ||
		strings.Contains(r.UserAgent(), "opensearch") || strings.HasSuffix(r.Host, ":9200")
}

// elasticsearch has an index without documents.
func elasticsearch(r *http.Request, _ []byte) any {
	switch {
	case !elastic(r):
		return nil
	case r.URL.Path == "/":
		return map[string]any{
			"name": "node", "cluster_name": "cluster", "cluster_uuid": "note", "tagline": "You Know, for Search",
			"version": map[string]any{"number": "8.13.0", "build_flavor": "default", "lucene_version": "9.10.0", "minimum_wire_compatibility_version": "7.17.0"},
		}
	case catalogue.MatchString(r.URL.Path):
		return []any{}
	case searches.MatchString(r.URL.Path):
		return map[string]any{
			"took": 1, "timed_out": false, "_shards": map[string]any{"total": 1, "successful": 1, "skipped": 0, "failed": 0},
			"hits": map[string]any{"total": map[string]any{"value": 0, "relation": "eq"}, "max_score": nil, "hits": []any{}}, "aggregations": map[string]any{},
		}
	default:
		return nil
	}
}

// dockerPaths matches paths of the Docker Engine API that return lists or describe the
// engine.
var dockerPaths = lazyregexp.New(`^(?:/v1\.\d+)?/(containers/json|images/json|networks|volumes|version|info)$`)

// docker is an engine without containers.
func docker(r *http.Request, _ []byte) any {
	asked := dockerPaths.FindStringSubmatch(r.URL.Path)
	if asked == nil || !strings.Contains(strings.ToLower(r.UserAgent()), "docker") && !strings.HasSuffix(r.Host, ":2375") && !strings.HasSuffix(r.Host, ":2376") {
		return nil
	}
	switch asked[1] {
	case "version":
		return map[string]any{"Version": "26.1.0", "ApiVersion": "1.45", "MinAPIVersion": "1.24", "Os": "linux", "Arch": "amd64"}
	case "info":
		return map[string]any{"ID": "note", "Containers": 0, "Images": 0, "Name": "docker", "ServerVersion": "26.1.0", "OSType": "linux"}
	case "volumes":
		return map[string]any{"Volumes": []any{}, "Warnings": nil}
	default:
		return []any{}
	}
}

// amazon returns the answer of an AWS service that speaks XML: of the Query protocol, whose
// forms name the action, or of S3. It is "" for services that speak JSON.
func amazon(r *http.Request, sent []byte) string {
	if host, _, _ := strings.Cut(r.Host, ":"); !strings.HasSuffix(host, ".amazonaws.com") || r.Header.Get("X-Amz-Target") != "" {
		return ""
	}
	const header = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	form, _ := url.ParseQuery(string(sent)) // what is no form has no action
	action := form.Get("Action")
	switch {
	case word.MatchString(strings.ToLower(action)):
		return fmt.Sprintf(header+"<%[1]sResponse><%[1]sResult></%[1]sResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></%[1]sResponse>\n", action)
	case !strings.HasPrefix(r.Host, "s3") && !strings.Contains(r.Host, ".s3"):
		return ""
	case r.Method != http.MethodGet:
		return header + "<Result></Result>\n"
	case r.URL.Path == "/" && strings.HasPrefix(r.Host, "s3"):
		return header + "<ListAllMyBucketsResult><Buckets></Buckets><Owner><ID>1</ID></Owner></ListAllMyBucketsResult>\n"
	default:
		return header + "<ListBucketResult><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>\n"
	}
}

func address(r *http.Request, path string) string { return "https://" + r.Host + path }

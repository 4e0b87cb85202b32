package sinkhole

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// What clients that are made for a service read of its answers, each part in order.
func TestServices(t *testing.T) {
	for _, tc := range []struct {
		method, url, body string
		header            [2]string
		want              []string
	}{
		{method: http.MethodPost, url: "https://login.example/oauth/v2", body: "grant_type=client_credentials", want: []string{`"access_token":"`, `"token_type":"Bearer"`}},
		{method: http.MethodPost, url: "https://login.example/oauth/token", want: []string{`"access_token":"`}},
		{url: "https://login.example/.well-known/openid-configuration", want: []string{`"token_endpoint":"https://login.example/token"`}},
		{method: http.MethodPost, url: "https://github.example/login/device/code", body: "client_id=a&scope=repo", want: []string{`"device_code":"`, `"interval":1`, `"user_code":"`, `"verification_uri":"https://github.example/device"`}},
		{method: http.MethodPost, url: "https://login.example/tenant/oauth2/v2.0/devicecode", body: "client_id=a", want: []string{`"device_code":"`, `"message":"`}},
		{method: http.MethodPost, url: "https://things.example/device/codec", body: "{}", want: []string{`"data":[]`}},
		{method: http.MethodPost, url: "https://slack.example/api/users.list", want: []string{`"members":[{"id":"U00000001"`, `"next_cursor":""`}},
		{url: "https://slack.example/api/conversations.list?limit=5", want: []string{`"channels":[{"id":"C00000001"`}},
		{url: "http://search.example:9200/", want: []string{`"number":"8.`}},
		{method: http.MethodPost, url: "http://search.example:9200/notes/_search?q=1", want: []string{`"hits":{"hits":[]`}},
		{url: "https://search.example/_cat/indices", header: [2]string{"Accept", "application/vnd.elasticsearch+json; compatible-with=8"}, want: []string{"[]"}},
		{method: http.MethodPost, url: "http://rows.example:8123/", body: "SELECT 1 FORMAT JSON", want: []string{`"data":[]`, `"rows":0`}},
		{url: "https://10.0.0.1:6443/api/v1/namespaces/default/pods", want: []string{`"apiVersion":"v1"`, `"items":[{`, `"kind":"Pod"`, `"kind":"PodList"`}},
		{url: "https://10.0.0.1:6443/apis/apps/v1/namespaces/shop/deployments/cart", want: []string{`"kind":"Deployment"`, `"name":"cart","namespace":"shop"`, `"replicas":1`}},
		{url: "https://10.0.0.1:6443/apis/argoproj.io/v1alpha1/applications", want: []string{`"kind":"ApplicationList"`}},
		{method: http.MethodPost, url: "https://10.0.0.1:6443/api/v1/namespaces/shop/configmaps", body: `{"metadata":{"name":"milk"},"data":{"a":"b"}}`, want: []string{`"a":"b"`, `"kind":"ConfigMap"`, `"name":"milk"`}},
		{method: http.MethodDelete, url: "https://10.0.0.1:6443/api/v1/namespaces/shop/pods/milk", want: []string{`"status":"Success"`}},
		{url: "https://10.0.0.1:6443/apis", want: []string{`"groupVersion":"apps/v1"`}},
		{url: "https://10.0.0.1:6443/api/v1", want: []string{`"kind":"Pod","name":"pods","namespaced":true`}},
		{url: "https://10.0.0.1:6443/openapi/v3", want: []string{`"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1"}`}},
		{url: "https://10.0.0.1:6443/openapi/v3/apis/apps/v1", want: []string{`"schemas":{`, `"/apis/apps/v1/deployments/{name}":{"patch":`, `"name":"fieldValidation"`, `{"group":"apps","kind":"Deployment","version":"v1"}`}},
		{url: "https://10.0.0.1:6443/openapi/v3/api/v1", want: []string{`"Pod":{"description":`, `"kind":"Pod"`, `"/api/v1/pods/{name}":`}},
		{url: "https://10.0.0.1:6443/apis/apps/v1", want: []string{`"groupVersion":"apps/v1"`}},
		{url: "https://10.0.0.1:6443/version", want: []string{`"gitVersion":"v1.`}},
		{url: "http://engine.example:2375/v1.45/containers/json", want: []string{"[]"}},
		{url: "https://10.0.0.1:6443/apis/metrics.k8s.io/v1beta1/nodes", want: []string{`"usage":{"cpu":"10m","memory":"10Mi"}`, `"kind":"NodeMetricsList"`}},
		{method: http.MethodPost, url: "https://metrics.example/api/v1/query", body: "query=up", want: []string{`"resultType":"vector"`, `"status":"success"`}},
		{url: "http://localhost:3000/api/datasources/proxy/uid/a/loki/api/v1/query_range?query=x", want: []string{`"resultType":"streams"`}},
		{url: "https://prometheus.example.com/api/v1/targets?state=active", want: []string{`"activeTargets":[{`}},
		{url: "http://metrics.example:9090/api/v1/label/job/values", want: []string{`"data":["note"]`}},
		{url: "https://forge.example/api/v1/labels", want: []string{`"data":[]`, `"labels":[]`}},
		{method: http.MethodPost, url: "https://api.example/graphql", body: `{"query":"query Q($n: Int) { viewer { login repositories(first: $n) { totalCount nodes { ...R } pageInfo { hasNextPage endCursor } } } issues { id title } } fragment R on Repository { name url }"}`,
			want: []string{`"data":{"issues":[{"id":"1","title":"note"}]`, `"login":"note"`, `"nodes":[{"name":"note","url":"https://api.example/graphql"}]`, `"endCursor":null,"hasNextPage":false`, `"totalCount":1`}},
		{method: http.MethodPost, url: "https://models.example/v1/chat/completions", body: `{"model":"a","messages":[]}`, want: []string{`"choices":[{"finish_reason":"stop"`, `"message":{"content":"note"`}},
		{method: http.MethodPost, url: "https://models.example/v1/messages", body: `{"model":"a","messages":[]}`, want: []string{`"content":[{"text":"note","type":"text"}]`}},
		{method: http.MethodPost, url: "https://models.example/v1beta/models/a:generateContent", body: `{"contents":[]}`, want: []string{`"candidates":[{"content":{"parts":[{"text":"note"`}},
		{method: http.MethodPost, url: "https://chat.example/v1/messages", body: `{"text":"a"}`, want: []string{`"messages":[]`}},
		{method: http.MethodPost, url: "https://api.example/search", body: `{"query":"notes {"}`, want: []string{`"results":[]`}},
	} {
		r := httptest.NewRequest(tc.method, tc.url, nil)
		r.Header.Set(tc.header[0], tc.header[1])
		answer, _ := newAsker().json(r, []byte(tc.body))
		rest := answer
		for _, want := range tc.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s %s: no %s in %s", tc.method, tc.url, want, answer)
			}
			rest = after
		}
	}
}

// TestGraphQLMergesSelections: of a field that several fragments select, and as deeply as generated clients do.
func TestGraphQLMergesSelections(t *testing.T) {
	query := "query { issue { state { id color } ...S } notes { id } notes { title } ...D } fragment S on Issue { state { name } } fragment D on Query "
	for range 8 {
		query += "{ a { ...E } } fragment E on A "
	}
	for i := range 8 {
		query = strings.Replace(query, "...E } } fragment E on A", fmt.Sprintf("...E%d } } fragment E%d on A", i, i), 1)
	}
	sent, err := json.Marshal(map[string]string{"query": query + "{ deep }"})
	if err != nil {
		t.Fatal(err)
	}
	document, _ := graphQL(httptest.NewRequest(http.MethodPost, "https://api.example/graphql", nil), sent)
	if document == nil {
		t.Fatalf("no query: %s", query)
	}
	answer, err := json.Marshal(answerGraphQL(document, "https://api.example/graphql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"state":{"color":`, `"name":`, `"notes":[{"id":"1","title":"note"}]`, `"deep":`} {
		if !strings.Contains(string(answer), want) {
			t.Errorf("no %s in %s", want, answer)
		}
	}
}

// A query may stand in the URL, and one that is no GraphQL asks for none.
func TestGraphQLByGet(t *testing.T) {
	for query, want := range map[string]string{"{ schema }": `{"data":{"schema":"note"}}`, "{ not": "", "milk": "", `{"match":{}}`: ""} {
		r := httptest.NewRequest(http.MethodGet, "https://docs.example/api/graphql?query="+url.QueryEscape(query), nil)
		if got, _ := newAsker().json(r, nil); strings.TrimSpace(got) != want && want != "" || want == "" && strings.HasPrefix(got, `{"data":{`) {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// TestIntrospection: the answer is a schema of which every type is there.
func TestIntrospection(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "https://api.example/graphql", nil)
	got, _ := newAsker().json(r, []byte(`{"query":"query IntrospectionQuery { __schema { queryType { name } types { ...T } } } fragment T on __Type { kind name }"}`))
	var answer struct {
		Data struct {
			Schema struct {
				QueryType struct{ Name string }
				Types     []struct{ Name string }
			} `json:"__schema"`
		}
	}
	if err := json.Unmarshal([]byte(got), &answer); err != nil || answer.Data.Schema.QueryType.Name != "Query" || len(answer.Data.Schema.Types) != 5 {
		t.Errorf("%s: %v", got, err)
	}
}

// Slack says of which workspace a token is.
func TestSlack(t *testing.T) {
	if got, _ := newAsker().json(httptest.NewRequest(http.MethodPost, "https://slack.com/api/auth.test", nil), nil); !strings.Contains(got, `"url":"https://note.slack.com/"`) {
		t.Error(got)
	}
}

func TestAmazon(t *testing.T) {
	for _, tc := range []struct{ method, url, body, want string }{
		{http.MethodPost, "https://sts.amazonaws.com/", "Action=GetCallerIdentity&Version=2011-06-15", "<GetCallerIdentityResponse><GetCallerIdentityResult>"},
		{http.MethodGet, "https://s3.eu-west-1.amazonaws.com/", "", "<ListAllMyBucketsResult>"},
		{http.MethodGet, "https://notes.s3.eu-west-1.amazonaws.com/?list-type=2", "", "<ListBucketResult>"},
		{http.MethodPost, "https://sts.amazonaws.com/", "Action=<a>", ""},
		{http.MethodGet, "https://api.example/", "Action=GetCallerIdentity", ""},
	} {
		if got := amazon(httptest.NewRequest(tc.method, tc.url, nil), []byte(tc.body)); !strings.Contains(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%s %s: %s, want %s", tc.method, tc.url, got, tc.want)
		}
	}
}

func FuzzGraphQL(f *testing.F) {
	f.Add([]byte(`{"query":"{ a { b: c ...F ... on T { d } } } fragment F on T { e ...F }"}`))
	f.Add([]byte(`{"query":"mutation { a(x: {b: [1, \"\"\"c\"\"\"]}) { id } }"}`))
	f.Add([]byte(`{"query":"` + strings.Repeat("{a", 2000) + strings.Repeat("}", 2000) + `"}`))
	f.Fuzz(func(t *testing.T, sent []byte) {
		document, _ := graphQL(httptest.NewRequest(http.MethodPost, "https://api.example/graphql", nil), sent)
		if document == nil {
			return
		}
		answer, err := json.Marshal(answerGraphQL(document, "https://api.example/graphql"))
		if err != nil || len(answer) > len(sent)+maxAnswers*(len(sent)+64) {
			t.Errorf("%d bytes, %v", len(answer), err)
		}
	})
}

func TestClickHouse(t *testing.T) {
	for _, tc := range []struct{ url, agent, body, want string }{
		{"https://db.example:8443/?query_id=1", "", "SELECT version(), timezone()", "24.8.4.13\tUTC\n"},
		{"https://db.example/", "clickhouse-connect/1.0", "SELECT 1", "1\n"},
		{"http://db.example:8123/?query=SELECT+name+FROM+system.tables", "", "", ""},
		{"http://db.example:8123/", "", "SELECT name FROM system.settings\n FORMAT Native", ""},
	} {
		r := httptest.NewRequest(http.MethodPost, tc.url, nil)
		r.Header.Set("User-Agent", tc.agent)
		if got := newAsker().content(r, []byte(tc.body)); got.body != tc.want || !strings.HasPrefix(got.kind, "text/tab-separated-values") {
			t.Errorf("%s: %+v", tc.body, got)
		}
	}
	for url, body := range map[string]string{"https://console.example:8443/api": `{"select":1}`, "https://db.example/": `{"select":1}`, "https://console.example:8443/x": "a secret"} {
		if got := newAsker().content(httptest.NewRequest(http.MethodPost, url, nil), []byte(body)); got.kind != asJSON.kind {
			t.Errorf("%s is taken for ClickHouse: %+v", url, got)
		}
	}
}

// Who sends Protocol Buffers gets an empty message back, of the same type.
func TestProtobuf(t *testing.T) {
	for kind, want := range map[string]string{"application/proto": "application/proto", "application/x-protobuf": "application/x-protobuf", "application/json": asJSON.kind} {
		r := httptest.NewRequest(http.MethodPost, "https://api.example/notes.v1.Notes/List", nil)
		r.Header.Set("Content-Type", kind)
		if got := newAsker().content(r, nil); got.kind != want || (got.body == "") != (got.kind == kind && kind != "application/json") {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// A video has a page with a key and the player's answer, which leads to captions.
func TestYouTube(t *testing.T) {
	for url, want := range map[string]string{
		"https://www.youtube.com/watch?v=a":                              `"INNERTUBE_API_KEY":"`,
		"https://www.youtube.com/youtubei/v1/player?key=a":               `"baseUrl":"https://www.youtube.com/api/timedtext?`,
		"https://www.youtube.com/api/timedtext?v=note&lang=en":           `<text start="0"`,
		"https://www.youtube.com/api/timedtext?v=note&lang=en&fmt=json3": `"segs":[{"utf8":`,
		"https://www.googleapis.com/youtube/v3/player":                   `"items":[]`,
		"https://notyoutube.com/watch?v=a":                               `"items":[]`,
	} {
		if got := newAsker().content(httptest.NewRequest(http.MethodGet, url, nil), nil); !strings.Contains(got.body, want) {
			t.Errorf("%s: %s", url, got.body)
		}
	}
}

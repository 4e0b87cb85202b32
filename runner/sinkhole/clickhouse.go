package sinkhole

import (
	"net/http"
	"slices"
	"strings"
)

// clickHouseQuery returns the query of a request to ClickHouse ("HTTP Interface", ClickHouse
// documentation); "" for any other request.
func clickHouseQuery(r *http.Request, sent []byte) string {
	user := r.Header.Get("X-Clickhouse-User") != "" || strings.Contains(strings.ToLower(r.UserAgent()), "clickhouse")
	if !user && !strings.HasSuffix(r.Host, ":8123") && !strings.HasSuffix(r.Host, ":8443") {
		return ""
	}
	query := strings.TrimSpace(r.URL.Query().Get("query") + "\n" + string(sent))
	if !slices.Contains(clickHouseVerbs, strings.ToLower(readStatement(query, true).verb)) {
		return ""
	}
	return query
}

// clickHouseVerbs begin its statements: other services listen on the same ports.
var clickHouseVerbs = []string{"select", "with", "insert", "create", "alter", "drop", "show", "describe", "desc", "exists", "explain", "use", "set",
	"optimize", "system", "truncate", "kill", "rename", "grant", "revoke", "attach", "detach", "check", "delete", "update"}

// clickHouse answers queries in format JSON: all tables are empty.
func clickHouse(r *http.Request, sent []byte) any {
	query := clickHouseQuery(r, sent)
	if query == "" || !strings.Contains(query, "FORMAT JSON") && !strings.Contains(r.URL.RawQuery, "JSON") {
		return nil
	}
	return map[string]any{"meta": []any{}, "data": []any{}, "rows": 0, "statistics": map[string]any{"elapsed": 0, "rows_read": 0, "bytes_read": 0}}
}

// clickHouseFacts are the values of functions that describe the server.
var clickHouseFacts = map[string]string{"version()": "24.8.4.13", "timezone()": "UTC", "currentdatabase()": "default", "currentuser()": "default"}

// clickHouseRows answers a query in any other format: one row in TabSeparated, the default,
// if the query reads no table, else an empty body, which is no rows in that format and in
// Native.
func clickHouseRows(r *http.Request, sent []byte) (c content, is bool) {
	query := clickHouseQuery(r, sent)
	if query == "" || clickHouse(r, sent) != nil {
		return content{}, false
	}
	c.kind = "text/tab-separated-values; charset=utf-8"
	s := readStatement(query, true)
	if !s.one || strings.Contains(query, "FORMAT ") {
		return c, true
	}
	var row []string
	for _, column := range s.columns {
		fact, known := clickHouseFacts[strings.ToLower(column)]
		if !known {
			fact = "1"
		}
		row = append(row, fact)
	}
	if len(row) > 0 {
		c.body = strings.Join(row, "\t") + "\n"
	}
	return c, true
}

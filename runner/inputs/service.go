package inputs

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// connecting are names of what says how a service is reached.
var connecting = []string{"connection", "dsn", "uri", "url", "urls", "conn", "connstr"}

// products are services by the words for them, and the schemes of their URLs.
var products = []hint{
	{[]string{"mongo", "mongodb", "atlas"}, "mongodb"},
	{[]string{"postgres", "postgresql", "pg"}, "postgresql"},
	{[]string{"mysql"}, "mysql"},
	{[]string{"mariadb"}, "mariadb"},
	{[]string{"redis", "valkey"}, "redis"},
	{[]string{"rabbitmq", "amqp"}, "amqp"},
	{[]string{"nats"}, "nats"},
	{[]string{"mqtt"}, "mqtt"},
	{[]string{"ldap"}, "ldap"},
}

// schemed finds the schemes that a description names.
var schemed = lazyregexp.New(`\b([a-z][a-z0-9]{1,15})(?:\+[a-z]+)?://`)

// service is the URL of a service that is no page, for a place that asks for a connection:
// by the first scheme that its description names, or by what the names speak of.
func (d *draft) service(n *node) (string, bool) {
	words := split(n.name)
	if !has(words, connecting) {
		return "", false
	}
	for _, match := range schemed.FindAllStringSubmatch(strings.ToLower(said(n)), maxOffers) {
		if scheme := match[1]; network(scheme) { // that of a page says nothing about a service
			return d.serviceURL(scheme), scheme != "http" && scheme != "https"
		}
	}
	scheme, ok := valueFor(slices.Concat(words, nouns(said(n)), d.form.about), products)
	return d.serviceURL(scheme), ok
}

func (d *draft) serviceURL(scheme string) string { return scheme + "://" + d.mark.Host() + "/notes" }

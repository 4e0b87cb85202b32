package inputs

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// connecting are names of parameters for the address of a service.
var connecting = []string{"connection", "dsn", "uri", "url", "urls", "conn", "connstr"}

// products are the URL schemes of services, by words for them.
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

// schemed matches the URL schemes in a description.
var schemed = lazyregexp.New(`\b([a-z][a-z0-9]{1,15})(?:\+[a-z]+)?://`)

// service returns the URL of a service other than the web, for a place that takes a connection:
// by the first scheme in its description, or by a product that the names mention.
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

// Package outputs holds what mcpaudit writes against the validators of others: each
// format has a file of its own. What they take is installed once, by version, into the
// cache (make test-outputs).
package outputs

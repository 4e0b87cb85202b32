// Package chart holds the Helm chart to what it promises: the same objects as config/,
// values that are checked and documented, and renderings that nobody changes unseen. It
// needs no cluster; what it does in one is for test/install.
package chart

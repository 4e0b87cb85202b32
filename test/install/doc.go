// Package install goes the way of a new user on a real cluster, with the files of a
// release and the programs that a user has: kubectl and helm. hack/install-test.sh
// brings up the cluster and makes the release (make test-install).
package install

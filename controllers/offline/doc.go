// Package offline keeps what the API server enforces by itself, also while the
// operator does not answer: lists in ConfigMaps and bindings of the static
// ValidatingAdmissionPolicies of config/policy, which look into them.
package offline

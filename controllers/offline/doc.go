// Package offline maintains what the API server enforces by itself, even while the operator is
// down: lists in ConfigMaps, and bindings of the static ValidatingAdmissionPolicies in
// config/policy that read them.
package offline

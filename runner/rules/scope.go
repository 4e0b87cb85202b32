package rules

// scopeRules are about a declared scope that does not fit.
var scopeRules = []family{}

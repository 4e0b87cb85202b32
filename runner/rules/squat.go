package rules

// squatRules are about names that are taken for others.
var squatRules = []family{}

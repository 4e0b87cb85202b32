package rules

// poisonRules are about texts that address the model.
var poisonRules = []family{}

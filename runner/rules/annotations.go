package rules

// annotationRules are about hints that do not hold.
var annotationRules = []family{}

package options

import "runtime"

// defaultPlatform assumes that the nodes are like the manager's own.
const defaultPlatform = "linux/" + runtime.GOARCH

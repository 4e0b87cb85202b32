// What holds the choice of a manifest to containerd's own code needs that code, which
// nothing else in the tree does.
module github.com/mcpaudit/mcpaudit/test/containerd

go 1.26.6

require (
	github.com/containerd/containerd/v2 v2.4.2
	github.com/containerd/errdefs v1.0.0
	github.com/containerd/platforms v1.0.0-rc.5
	github.com/mcpaudit/mcpaudit v0.0.0
	github.com/opencontainers/go-digest v1.0.0
	github.com/opencontainers/image-spec v1.1.1
)

require (
	github.com/containerd/log v0.2.0 // indirect
	github.com/klauspost/compress v1.20.0 // indirect
	github.com/sirupsen/logrus v1.10.2 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

replace github.com/mcpaudit/mcpaudit => ../..

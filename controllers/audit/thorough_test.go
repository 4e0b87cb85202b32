//go:build !chaos

package audit

// thorough lets TestChaos take its time.
const thorough = false

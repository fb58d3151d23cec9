//go:build !race

package libtest

const race = false

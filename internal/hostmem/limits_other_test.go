//go:build !linux

package hostmem

import "testing"

// skipUnlessOvercommitted skips the test: it is unknown how much the host allows processes to reserve.
func skipUnlessOvercommitted(t *testing.T, err error) { t.Skip(err) }

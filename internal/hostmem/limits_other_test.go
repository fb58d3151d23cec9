//go:build !linux

package hostmem

import "testing"

// skipUnlessOvercommitted skips the test: nothing is known of how much the host lets processes reserve.
func skipUnlessOvercommitted(t *testing.T, err error) { t.Skip(err) }

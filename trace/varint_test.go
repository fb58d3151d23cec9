package trace

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestVarints compares appendVarints with package protowire: numbers of every length in bits, alone and between others.
func TestVarints(t *testing.T) {
	var list []uint64
	for n := range 65 {
		low := uint64(1)<<n - 1 // n bits, all set
		list = append(list, low, low+1, low&0xa5a5_a5a5_a5a5_a5a5)
	}
	want := []byte{7}
	for i, v := range list {
		one := protowire.AppendVarint(nil, v)
		if got := appendVarints(nil, list[i:i+1]); !bytes.Equal(got, one) {
			t.Errorf("%#x: %x, want %x", v, got, one)
		}
		want = append(want, one...)
	}
	if got := appendVarints([]byte{7}, list); !bytes.Equal(got, want) {
		t.Errorf("the list: %x, want %x", got, want)
	}
}

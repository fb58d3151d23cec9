package ptx

import (
	"strings"
	"testing"
)

// TestAttributes: .attribute has a list of .managed and .unified(NUMBER, NUMBER) (manual 5.4.8).
func TestAttributes(t *testing.T) {
	for text, want := range map[string]bool{
		".managed": true, ".unified ( 19 , 95 )": true, ".managed , .unified ( 1 , 2 )": true, ".unified ( 1 , 2 ) , .managed": true,
		"": false, ".managed .managed": false, ".managed ,": false, ", .managed": false, ".file": false,
		".unified": false, ".unified ( 1 )": false, ".unified ( a , 2 )": false, ".unified ( 1 , 2": false, ".unified ( 1 , 2 ) )": false,
	} {
		if got := areAttributes(strings.Fields(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

package main

import "testing"

// TestChecksumOfTokens checks that comments and empty lines do not change the checksum, and that tokens do.
func TestChecksumOfTokens(t *testing.T) {
	const c = "#define A(x) \\\n\tx + 1\nint f(void) { return A(2); }\n"
	same := "// a comment\n#define A(x) \\\n\tx  + 1\n\n/* two\nlines */\nint f(void) { /* here */ return A(2); } // there\n"
	if a, b := significant(c), significant(same); a != b {
		t.Errorf("comments count:\n%s\n%s", a, b)
	}
	for _, other := range []string{c + "int g;\n", "char *s = \"// no comment\";\n" + c} {
		if significant(c) == significant(other) {
			t.Errorf("%q does not count", other)
		}
	}
	if got, want := significant("f(\"a // b\\\" /* c\"); // d\n"), "f(\"a // b\\\" /* c\");\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

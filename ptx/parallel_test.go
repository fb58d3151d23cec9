package ptx

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestBodiesInParallel: a module whose bodies are built at the same time is the same module, and has the same problems in the same
// order, as with a single goroutine. The problems of a module are at most 50, also if each of several bodies has that many.
func TestBodiesInParallel(t *testing.T) {
	module := func(bad func(i int) string) string {
		var text strings.Builder
		text.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 shared_name[4];\n")
		for i := range 200 {
			fmt.Fprintf(&text, ".entry k%d(.param .u64 p) {\n.reg .u32 %%r<9>; .reg .u64 %%rd<3>; .reg .pred %%p;\nld.param.u64 %%rd0, [p];\n", i)
			for j := range 40 {
				fmt.Fprintf(&text, "L%d: add.u32 %%r%d, %%r%d, %d; st.global.u32 [shared_name], %%r%d; @%%p bra L%d;\n", j, j%9, (j+i)%9, i*j, j%9, j*i%40)
			}
			text.WriteString(bad(i) + "ret;\n}\n")
		}
		return text.String()
	}
	for name, text := range map[string]string{
		"valid": module(func(int) string { return "" }),
		"a few problems": module(func(i int) string {
			if i%70 != 3 {
				return ""
			}
			return fmt.Sprintf("mov.u32 %%missing%d, 1; bra nowhere%d; .reg .u32 %%bad<0>; mov.u32 %%bad0, 1;\n", i, i)
		}),
		"many problems": module(func(i int) string { return strings.Repeat(fmt.Sprintf("mov.u32 %%q%d, 1;\n", i), i) }),
	} {
		outcome := func(processors int) string {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			m, err := ParseString("m.ptx", text)
			if err != nil {
				text := fmt.Sprintf("%d problems\n", len(err.(ErrorList)))
				for _, e := range err.(ErrorList) {
					text += e.Error() + "\n"
				}
				return text
			}
			return m.String()
		}
		one := outcome(1)
		if hasProblems := strings.Contains(one, " problems\n"); hasProblems != (name != "valid") || name == "many problems" && !strings.HasPrefix(one, "50 problems\n") {
			t.Errorf("%s: got %.300s", name, one)
		}
		if name == "many problems" && (!strings.Contains(one, "%q10") || strings.Contains(one, "%q11")) { // 45 problems in bodies 1 to 9
			t.Errorf("the problems are not the first: %s", one)
		}
		for range 5 {
			if several := outcome(4); several != one {
				t.Fatalf("%s: with one goroutine\n%.1000s\nwith several\n%.1000s", name, one, several)
			}
		}
	}
}

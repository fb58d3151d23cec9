package oracle

import (
	"fmt"
	"strings"
	"testing"

	"gemu/ptx"
)

// TestPrintf compares with the output of glibc's printf for the same format and values.
func TestPrintf(t *testing.T) {
	const i4, i8 = "b32", "b64"
	type arg struct {
		typ string
		val string
	}
	for _, c := range []struct {
		format string
		args   []arg
		want   string
		n      uint32
	}{
		{"plain 100%%\n", nil, "plain 100%\n", 0},
		{"%d %i %u", []arg{{i4, "-5"}, {i4, "42"}, {i4, "-1"}}, "-5 42 4294967295", 3},
		{"%x %X %#x %#X %o %#o", []arg{{i4, "255"}, {i4, "255"}, {i4, "255"}, {i4, "255"}, {i4, "8"}, {i4, "8"}}, "ff FF 0xff 0XFF 10 010", 6},
		{"[%5d|%-5d|%05d|%+d|% d]", []arg{{i4, "42"}, {i4, "42"}, {i4, "-42"}, {i4, "42"}, {i4, "42"}}, "[   42|42   |-0042|+42| 42]", 5},
		{"[%.3d|%6.3d|%06.3d|%.0d]", []arg{{i4, "7"}, {i4, "-7"}, {i4, "7"}, {i4, "0"}}, "[007|  -007|   007|]", 4},
		{"[%#06x|%#x]", []arg{{i4, "31"}, {i4, "0"}}, "[0x001f|0]", 2},
		{"%lld %llu %lx %zu", []arg{{i8, "-1"}, {i8, "-1"}, {i8, "0x123456789ab"}, {i8, "7"}}, "-1 18446744073709551615 123456789ab 7", 4},
		{"%d %lld %d", []arg{{i4, "1"}, {i8, "2"}, {i4, "3"}}, "1 2 3", 3}, // 4 bytes of padding
		{"%hd %hhu %hhd", []arg{{i4, "0x18000"}, {i4, "0x1ff"}, {i4, "0x80"}}, "-32768 255 -128", 3},
		{"%c%c%3c", []arg{{i4, "65"}, {i4, "66"}, {i4, "67"}}, "AB  C", 3},
		{"[%*d|%-*d|%.*f]", []arg{{i4, "4"}, {i4, "1"}, {i4, "4"}, {i4, "2"}, {i4, "1"}, {i8, "0d3FF4000000000000"}}, "[   1|2   |1.2]", 6},
		{"%f %.2f %8.3f|%-8.1f|%08.2f", []arg{{i8, "0d3FF8000000000000"}, {i8, "0d3FF8000000000000"}, {i8, "0dBFF8000000000000"}, {i8, "0d3FF8000000000000"}, {i8, "0dBFF8000000000000"}}, "1.500000 1.50   -1.500|1.5     |-0001.50", 5},
		{"%e %.0e %E", []arg{{i8, "0d40F86A0000000000"}, {i8, "0d3FF0000000000000"}, {i8, "0d0000000000000000"}}, "1.000000e+05 1e+00 0.000000E+00", 3},
		{"%g %g %g %g %g", []arg{{i8, "0d40F86A0000000000"}, {i8, "0d412E848000000000"}, {i8, "0d3F1A36E2EB1C432D"}, {i8, "0d3EE4F8B588E368F1"}, {i8, "0d3FB999999999999A"}}, "100000 1e+06 0.0001 1e-05 0.1", 5},
		{"%#g %.3g %G", []arg{{i8, "0d3FF0000000000000"}, {i8, "0d40934A456D5CFAAD"}, {i8, "0d412E848000000000"}}, "1.00000 1.23e+03 1E+06", 3},
		{"%a %A %.2a", []arg{{i8, "0d3FF8000000000000"}, {i8, "0dC024000000000000"}, {i8, "0d3FF0000000000000"}}, "0x1.8p+0 -0X1.4P+3 0x1.00p+0", 3},
		{"%f %F %5.1e %010f", []arg{{i8, "0x7ff0000000000000"}, {i8, "0xfff0000000000000"}, {i8, "0x7ff8000000000000"}, {i8, "0x7ff0000000000000"}}, "inf -INF   nan        inf", 4},
		{"%p %p", []arg{{i8, "0x12ab"}, {i8, "0"}}, "0x12ab (nil)", 2},
		{"[%s|%5s|%-5s|%.2s|%s]", []arg{{i8, "str"}, {i8, "str"}, {i8, "str"}, {i8, "str"}, {i8, "0"}}, "[abc|  abc|abc  |ab|(null)]", 5},
		{"%y%", nil, "%y%", 0},
	} {
		var stores strings.Builder
		offset := 0
		for _, a := range c.args {
			size := ptx.TypeByName(a.typ).Size()
			offset = int(align(uint64(offset), uint64(size)))
			fmt.Fprintf(&stores, "	mov.%[1]s %%v%[1]s, %[2]s;\n	st.local.%[1]s [buf+%[3]d], %%v%[1]s;\n", a.typ, a.val, offset)
			offset += size
		}
		var bytes []string
		for _, b := range []byte(c.format + "\x00") {
			bytes = append(bytes, fmt.Sprint(b))
		}
		r := newHarness(t, fmt.Sprintf(`
.extern .func (.param .b32 ret) vprintf(.param .b64 format, .param .b64 args);
.global .align 1 .b8 fmt[%d] = {%s};
.const .align 1 .b8 str[4] = {97, 98, 99, 0};
.visible .entry k(.param .u64 out) {
	.reg .b64 %%o, %%p, %%vb64;
	.reg .b32 %%n, %%vb32;
	.local .align 8 .b8 buf[64];
	.param .b64 a, b;
	.param .b32 c;
%s
	mov.u64 %%p, fmt;
	cvta.global.u64 %%p, %%p;
	st.param.b64 [a], %%p;
	cvta.local.u64 %%p, buf;
	st.param.b64 [b], %%p;
	call.uni (c), vprintf, (a, b);
	ld.param.b32 %%n, [c];
	ld.param.u64 %%o, [out];
	st.global.u32 [%%o], %%n;
	ret;
}`, len(bytes), strings.Join(bytes, ","), stores.String()))
		o := r.buffer(99)
		r.mustRun("k", 1, 1, o)
		if got := r.printed.String(); got != c.want {
			t.Errorf("%q printed\n%q, want\n%q", c.format, got, c.want)
		}
		checkWords(t, r, o, c.n)
	}
}

// TestDriverFunctions: malloc, free, a null format, and a failing assertion.
func TestDriverFunctions(t *testing.T) {
	str := func(s string) string {
		var b []string
		for _, c := range []byte(s + "\x00") {
			b = append(b, fmt.Sprint(c))
		}
		return fmt.Sprintf("[%d] = {%s}", len(b), strings.Join(b, ","))
	}
	r := newHarness(t, `
.extern .func (.param .b64 r) malloc(.param .b64 size);
.extern .func free(.param .b64 p);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 fn, .param .b64 s) .noreturn;
.global .align 1 .b8 msg`+str("x > 0")+`;
.global .align 1 .b8 file`+str("a.cu")+`;
.global .align 1 .b8 func`+str("void k()")+`;
.visible .entry k(.param .u64 out, .param .u64 p) {
	.reg .b64 %p, %o;
	.reg .b32 %n;
	.reg .pred %q;
	ld.param.u64 %o, [out];
	call (%p), malloc, (24);
	st.u64 [%p+16], 5;
	st.global.u64 [%o], %p;
	call free, (%p);
	call free, (0);
	ld.param.u64 %p, [p];
	call free, (%p);
	call (%n), vprintf, (0, 0);
	st.global.u32 [%o+8], %n;
	.reg .u32 %ctaidx;
	mov.u32 %ctaidx, %ctaid.x;
	setp.eq.u32 %q, %ctaidx, 1;
	@%q call __assertfail, (msg, file, 42, func, 1);
	ret;
}`)
	o := r.buffer(0, 0, 0)
	r.mustRun("k", 1, 1, o, 0)
	p := r.words(o, 3)
	if r.dev.findAllocation(uint64(p[0])) != nil || p[0] != uint32(o)+512 || p[1] != 0 || p[2] != 0xffffffff {
		t.Errorf("stored %#x: want what lies behind the buffer, which is free again", p)
	}
	wantTrap(t, r.tryRun("k", 2, 1, o, 0), KindAssert, "a.cu:42: void k(): block: [1,0,0], thread: [0,0,0] Assertion `x > 0` failed.")
	wantTrap(t, r.tryRun("k", 1, 1, o, 1), KindHeap, "0x1")
	wantTrap(t, r.tryRun("k", 1, 1, o, o), KindHeap, "")
}

package assist

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gemu/internal/part"
	"gemu/machine/codec"
	"gemu/probe"
	"gemu/ptx"
)

// randomLine returns a line with structure, so that each encoding fits some of them: values of 1 to 8 bytes near a few bases. Some lines have
// values, or differences from a base, at the limits of 1, 2 and 4 bytes.
func randomLine(r *rand.Rand) (l codec.Line) {
	size := 1 << r.IntN(4)
	limit := uint64(1) << (8*(1<<r.IntN(3)) - 1) // of signed numbers
	limits := []uint64{limit - 1, limit, -limit, -limit - 1, 2*limit - 1, 2 * limit}
	var bases [4]uint64
	atLimit := r.IntN(3) == 0
	first, last := limits[r.IntN(len(limits))], limits[r.IntN(len(limits))]
	if !atLimit || r.IntN(2) == 0 { // otherwise zero
		for i := range bases {
			bases[i] = r.Uint64() >> (8 * r.IntN(8))
		}
	}
	n := r.IntN(len(bases)) + 1
	if atLimit {
		n = 1
	}
	spread := 8 * r.IntN(5)
	for at := 0; at < len(l); at += size {
		v := bases[r.IntN(n)]
		if r.IntN(3) == 0 {
			v = 0
		}
		switch {
		case atLimit && r.IntN(4) == 0:
			v += first
		case atLimit && r.IntN(4) == 0:
			v += last
		case atLimit:
		case spread > 0:
			v += uint64(int64(r.Uint64()) >> (64 - spread)) // a signed number of spread bits
		}
		for i := range size {
			l[at+i] = byte(v >> (8 * i))
		}
	}
	if r.IntN(4) == 0 { // the first value that is not zero comes late
		clear(l[:r.IntN(len(l))])
	}
	if !atLimit && r.IntN(8) == 0 { // a value that fits nowhere
		l[r.IntN(len(l))] = byte(r.Uint32())
	}
	return l
}

// newStandard returns a sandbox with the routines of gemu.
func newStandard(t *testing.T) *Sandbox {
	t.Helper()
	s, err := NewSandbox(Standard()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestRoutinesAreCodecs: each routine of gemu writes what package codec does, for random lines.
func TestRoutinesAreCodecs(t *testing.T) {
	s := newStandard(t)
	want := part.Count(300, 2000, 100_000)
	seed := part.Seed(t)
	for _, r := range s.Routines() {
		t.Run(r.Name(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			c := r.Codec()
			var in, lines []codec.Line
			var hints []codec.Encoding
			encodings := map[codec.Encoding]int{}
			for tries := 0; len(in) < want; tries++ {
				if tries > 1000*want {
					t.Fatalf("%d of %d random lines have a form for the routine", len(in), tries)
				}
				line := randomLine(random)
				if tries%7 == 0 {
					line = codec.Line{}
					if first := random.Uint32() % 256; tries%2 == 0 {
						for i := range line { // equal values of 8 bytes
							line[i] = byte(first * uint32(i%8+1))
						}
					}
				}
				n, e := c.Size(&line)
				encodings[e]++
				if r.Event() == Store {
					in, hints = append(in, line), append(hints, codec.Encoding(random.IntN(int(codec.Base2Diff1)+1)))
				} else if r.begins(e) {
					var form codec.Line
					c.Encode(&form, &line)
					for i := n; i < len(form); i++ {
						form[i] = byte(random.Uint32()) // the bytes after the form have no meaning
					}
					in, hints = append(in, form), append(hints, 0)
				} else {
					continue
				}
				lines = append(lines, line)
			}
			outcomes, err := s.Run(t.Context(), r, in, hints)
			if err != nil {
				t.Fatal(err)
			}
			for i := range outcomes {
				if err := r.Check(&lines[i], hints[i], &outcomes[i]); err != nil {
					t.Fatal(err)
				}
			}
			all := 0
			for e := range codec.Encodings {
				if c.Has(e) && (r.Event() == Store || r.begins(e)) {
					all++
					if encodings[e] == 0 {
						t.Errorf("no line has the encoding %s", e)
					}
				}
			}
			if all == 0 {
				t.Error("no encoding was tried")
			}
			t.Logf("%v", encodings)
		})
	}
}

// TestLimits: differences at the limits of 1, 2 and 4 bytes, for values of each size.
func TestLimits(t *testing.T) {
	s := newStandard(t)
	var lines []codec.Line
	for _, size := range []int{2, 4, 8} {
		for width := 1; width < size; width *= 2 {
			limit := uint64(1) << (8*width - 1)
			for _, d := range []uint64{limit - 1, limit, -limit, -limit - 1} {
				var l codec.Line
				for at := range l {
					v := uint64(0x5a5a_5678_4abc_3ef0)
					if at/size%2 == 1 {
						v += d
					}
					l[at] = byte(v >> (8 * (at % size)))
				}
				lines = append(lines, l)
			}
		}
	}
	r := s.Store(codec.BDI)
	outcomes, err := s.Run(t.Context(), r, lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range outcomes {
		if err := r.Check(&lines[i], 0, &outcomes[i]); err != nil {
			t.Error(err)
		}
	}
}

// TestInstructions has the instructions of routines by hand: those of a routine without branches are the lines of its text.
func TestInstructions(t *testing.T) {
	s := newStandard(t)
	for _, c := range []struct {
		name      string
		in        codec.Line
		hint      codec.Encoding
		want      int
		registers int
	}{
		// mov, mad, st, ret. At the start there are two addresses of 8 bytes, later an address and the lane.
		{"bdi_zeros", codec.Line{1}, 0, 4, 4},
		{"bdi_4_1", codec.Line{4}, 0, 13, 0},
		{"bdi_4_2", codec.Line{6}, 0, 15, 0},
		{"bdi_8_1", codec.Line{3}, 0, 16, 0},
		// The start has 8 instructions with the branch, and the block "all" four up to its branch; the block "zeros" has four.
		{"bdi_compress", codec.Line{}, 0, 8 + 4 + 4, 0},
		// A hint that fits: the start, the block "try81" up to its branch, "longs" and "differences".
		{"bdi_compress", codec.Line{1: 1}, codec.Base8Diff1, 8 + 16 + 15 + 10, 0},
	} {
		r := find(t, s, c.name)
		got, err := s.Run(t.Context(), r, []codec.Line{c.in}, []codec.Encoding{c.hint})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Instructions != c.want {
			t.Errorf("%s: %d instructions, want %d", c.name, got[0].Instructions, c.want)
		}
		if n := r.Registers(); c.registers != 0 && n != c.registers {
			t.Errorf("%s: %d registers, want %d", c.name, n, c.registers)
		}
	}
}

// find returns a routine of a sandbox.
func find(t *testing.T, s *Sandbox, name string) *Routine {
	t.Helper()
	for _, r := range s.Routines() {
		if r.Name() == name {
			return r
		}
	}
	t.Fatalf("there is no routine %s", name)
	return nil
}

const head = ".version 6.0\n.target sm_30\n.address_size 64\n"

// TestWrongRoutines: routines that a user has written wrongly give errors with their place.
func TestWrongRoutines(t *testing.T) {
	const fill, store = ".func f(.reg .b64 %form, .reg .b64 %line)", ".func (.reg .b32 %bytes) f(.reg .b64 %line, .reg .b64 %form)"
	const miss = ".func (.reg .b32 %count) f(.reg .b64 %register, .reg .b64 %addresses, .reg .b64 %address, .reg .b32 %instruction)"
	for _, c := range []struct{ function, pragma, want string }{
		{fill, "priority=high", "p.ptx:6: .pragma \"gemu.assist\": trigger=… is missing"},
		{fill, "trigger=fill:bdi:8-1", "priority=low or priority=high is missing"},
		{fill, "priority=middle trigger=fill:bdi:8-1", "priority=middle: want priority=low or priority=high, once"},
		{fill, "priority=high priority=low trigger=fill:bdi:8-1", "priority=low: want"},
		{fill, "priority=high speed=3", "speed=3: want priority=…, trigger=…, livein=…"},
		{fill, "priority=high trigger=hit:l1", "trigger=hit:l1: want fill:CODEC:ENCODING, store:CODEC, miss:l1 or pc:LABEL"},
		{miss, "priority=low trigger=miss:l2", "trigger=miss:l2: want miss:l1: loads that miss another cache begin no routine"},
		{fill, "priority=high trigger=miss:l1", "want .func (.reg .b32 %count) f(.reg .b64 %register, .reg .b64 %addresses, .reg .b64 %address, .reg .b32 %instruction)"},
		{miss, "priority=high trigger=miss:l1 trigger=store:bdi", "want triggers of the same event and codec, each once"},
		{fill, "priority=high trigger=fill:zip:8-1", `trigger=fill:zip:8-1: there is no codec "zip"`},
		{fill, "priority=high trigger=fill:fpc:8-1", `fpc has no encoding "8-1": want one of segments`},
		{fill, "priority=high trigger=fill:bdi:raw", `bdi has no encoding "raw"`},
		{fill, "priority=high trigger=fill:bdi:8-1 trigger=store:bdi", "want triggers of the same event and codec, each once"},
		{fill, "priority=high trigger=fill:bdi:8-1 trigger=fill:bdi:8-1", "want triggers of the same event and codec, each once"},
		{store, "priority=low trigger=store:bdi trigger=store:fpc", "want triggers of the same event and codec, each once"},
		{store, "priority=low trigger=store:bdi:8-1", "a store has no encoding: want store:bdi"},
		{store, "priority=high trigger=fill:bdi:8-1", "want .func f(.reg .b64 %form, .reg .b64 %line)"},
		{fill, "priority=low trigger=store:bdi", "want .func (.reg .b32 %bytes) f(.reg .b64 %line, .reg .b64 %form)"},
		{".func f(.reg .f64 %form, .reg .b64 %line)", "priority=high trigger=fill:bdi:8-1", "want .func f("},
		{".func f(.param .b64 form, .param .b64 line)", "priority=high trigger=fill:bdi:8-1", "want .func f("},
		{".entry f()", "priority=high trigger=fill:bdi:8-1", "f is a kernel: want a .func"},
	} {
		_, err := NewSandbox(Source{"p.ptx", []byte(head + c.function + "\n{\n\t.pragma \"gemu.assist " + c.pragma + "\";\n\tret;\n}\n")})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.pragma, err, c.want)
		}
	}
	if _, err := NewSandbox(Source{"p.ptx", []byte(head + fill + " { ret; }")}); err == nil || !strings.Contains(err.Error(), "p.ptx: no .func has") {
		t.Errorf("no routine: %v", err)
	}
	var list ptx.ErrorList
	if _, err := NewSandbox(Source{"p.ptx", []byte(head + "oops")}); !errors.As(err, &list) {
		t.Errorf("no PTX: %v", err)
	}
}

// TestForbiddenInstructions: a routine shares the context of its parent warp, so it must not wait at the barriers of the parent's CTA or end
// the parent's threads; and its registers are those of its own text.
func TestForbiddenInstructions(t *testing.T) {
	for text, want := range map[string]string{
		"bar.sync 0;":          "p.ptx:7: .pragma \"gemu.assist\": bar.sync in line 8: ",
		"barrier.sync 0;":      "barrier.sync in line 8: ",
		"bar.arrive 0, 64;":    "bar.arrive in line 8: ",
		"exit;":                "exit in line 8: ",
		"call g;":              "call in line 8: ",
		"bar.warp.sync -1;":    "",
		"shr.b64 %line, 1, 1;": "",
	} {
		s, err := NewSandbox(Source{"p.ptx", []byte(head + ".func g() { ret; }\n.func f(.reg .b64 %form, .reg .b64 %line)\n{\n" +
			".pragma \"gemu.assist priority=high trigger=fill:bdi:8-1\";\n" + text + "\nret;\n}\n")})
		if err == nil {
			s.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestPlacesOfPragmas: the pragma of a routine stands in the body of a function, not outside of functions, as after a prototype.
func TestPlacesOfPragmas(t *testing.T) {
	const pragma, function = ".pragma \"gemu.assist priority=high trigger=fill:bdi:8-1\";\n", ".func f(.reg .b64 %form, .reg .b64 %line)\n"
	for text, want := range map[string]string{
		pragma + function + "{ ret; }\n": "p.ptx:4: .pragma \"gemu.assist\": it is outside of functions",
		".extern " + function + pragma:   "p.ptx:5: .pragma \"gemu.assist\": it is outside of functions",
	} {
		if _, err := NewSandbox(Source{"p.ptx", []byte(head + text)}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestRoutinesOfSandbox: a module has a single routine for a trigger; of two modules the first one counts. A sandbox executes its own routines only.
func TestRoutinesOfSandbox(t *testing.T) {
	s := newStandard(t)
	other := newStandard(t)
	if _, err := s.Run(t.Context(), other.Store(codec.FPC), make([]codec.Line, 1), nil); err == nil || err.Error() != "fpc_compress: the routine is of another sandbox" {
		t.Errorf("a routine of another sandbox: %v", err)
	}
	routine := func(name string) string {
		return ".func " + name + "(.reg .b64 %form, .reg .b64 %line)\n{\n\t.pragma \"gemu.assist priority=high trigger=fill:bdi:8-1\";\n\tret;\n}\n"
	}
	own := Source{"p.ptx", []byte(head + routine("f"))}
	s, err := NewSandbox(append([]Source{own}, Standard()...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r := s.Fill(codec.BDI, codec.Base8Diff1); r.Name() != "f" {
		t.Errorf("the routine is %s, want f, of the first module", r.Name())
	}
	_, err = NewSandbox(Source{"p.ptx", []byte(head + routine("f") + routine("g"))})
	if want := "p.ptx:9: routines f and g both have trigger=fill:bdi:8-1: leave one of them out"; err == nil || err.Error() != want {
		t.Errorf("two routines: %v, want %s", err, want)
	}
}

// TestFaultsOfRoutines: a routine that leaves its line traps, as does an endless one; a wrong number of bytes is an error, and a line that was
// not written is wrong.
func TestFaultsOfRoutines(t *testing.T) {
	s, err := NewSandbox(Source{"p.ptx", []byte(head + `
.func far(.reg .b64 %form, .reg .b64 %line)
{
	.pragma "gemu.assist priority=high trigger=fill:bdi:8-1";
	st.b32 [%line+128], 0;
	ret;
}
.func (.reg .b32 %bytes) long(.reg .b64 %line, .reg .b64 %form)
{
	.pragma "gemu.assist priority=low trigger=store:bdi";
	mov.u32 %bytes, 97;
	ret;
}
.func endless(.reg .b64 %form, .reg .b64 %line)
{
	.pragma "gemu.assist priority=high trigger=fill:bdi:8-2";
	.reg .b32 %n;
	.reg .pred %p;
again:
	add.u32 %n, %n, 2;
	setp.ne.u32 %p, %n, 1;
	@%p bra again;
	ret;
}
.func idle(.reg .b64 %form, .reg .b64 %line)
{
	.pragma "gemu.assist priority=high trigger=fill:bdi:zeros";
	ret;
}
.func (.reg .b32 %bytes) silent(.reg .b64 %line, .reg .b64 %form)
{
	.pragma "gemu.assist priority=low trigger=store:fpc";
	mov.u32 %bytes, 2;
	ret;
}
`)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var trap *probe.Trap
	if _, err := s.Run(t.Context(), find(t, s, "far"), make([]codec.Line, 3), nil); !errors.As(err, &trap) || trap.Pos.Line != 8 {
		t.Errorf("a store after the line: %v", err)
	}
	if _, err := s.Run(t.Context(), find(t, s, "long"), make([]codec.Line, 3), nil); err == nil || !strings.Contains(err.Error(), "long returns 97 bytes: want 1 to 96, or 128") {
		t.Errorf("97 bytes: %v", err)
	}
	begin := time.Now()
	if _, err := s.Run(t.Context(), find(t, s, "endless"), make([]codec.Line, 1), nil); !errors.Is(err, probe.ErrStepLimit) || !strings.Contains(err.Error(), "has executed 6553") {
		t.Errorf("an endless loop: %v after %v", err, time.Since(begin))
	}
	for _, name := range []string{"idle", "silent"} {
		r := find(t, s, name)
		if list, err := s.Run(t.Context(), r, make([]codec.Line, 1), nil); err != nil || r.Check(&codec.Line{}, 0, &list[0]) == nil {
			t.Errorf("%s: the zeros that it should write are found: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, find(t, s, "long"), make([]codec.Line, 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemu/machine"
)

// histoArgs are the arguments of docs/histo.ptx in docs/machine.md.
var histoArgs = []string{"-g", "48,4", "-b", "256", "-a", "u32[122880]=iota", "u32[122880]", "122880"}

// pragmas of the kernel histo, as in docs/machine.md.
const (
	localityText = `.pragma "gemu.locality param=pixels type=INTER_THREAD sharing=COACCESSED regular=true ctile=1,4,1 priority=1";`
	atomText     = `.pragma "gemu.atom param=pixels pattern=REGULAR stride=4 access=READ_ONLY reuse=9";`
)

// withPragmas writes docs/histo.ptx with texts at the start of its body, and returns its name.
func withPragmas(t *testing.T, texts ...string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/histo.ptx")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "histo.ptx")
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), "\n{\n", "\n{\n"+strings.Join(texts, "\n")+"\n", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// totals runs gemu machine, and returns the counts of each machine.
func totals(t *testing.T, args ...string) (list []machine.Counts) {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(t.Context(), append(slices.Clone(args), "--json", "-"), strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("%q: status %d: %s", args, status, &errs)
	}
	var report machineJSON
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	for i := range report.Machines {
		list = append(list, report.Machines[i].Total)
	}
	return list
}

// TestDescriptorsOfProgram: descriptors in the PTX have the effect of the same descriptors in a file, also in a recording.
func TestDescriptorsOfProgram(t *testing.T) {
	name := withPragmas(t, localityText, atomText)
	file := filepath.Join(t.TempDir(), "data.json")
	const descriptors = `{"schema": "gemu-descriptors/1",
		"locality": [{"buffer": "buffer of argument 0", "type": "INTER_THREAD", "sharing": "COACCESSED", "regular": true, "ctile": [1, 4, 1], "priority": 1}],
		"atoms": [{"map": [{"buffer": "buffer of argument 0"}], "pattern": "REGULAR", "stride": 4, "access": "READ_ONLY", "reuse": 9}]}`
	if err := os.WriteFile(file, []byte(descriptors), 0o666); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--sweep", "sms=15", "--sweep", "l1=16K", "--sweep", "l2=256K", "--with", "ldesc=" + file + ",xmem=" + file + ",ldesc=program,xmem=program"}
	list := totals(t, append(append([]string{"machine", name}, histoArgs...), flags...)...)
	base, ldesc, xmem := list[0], list[1], list[2]
	if base == ldesc || base == xmem || ldesc == xmem {
		t.Fatalf("the descriptors have no effect: %+v", list)
	}
	if list[3] != ldesc || list[4] != xmem {
		t.Errorf("%+v and %+v, want %+v and %+v", list[3], list[4], ldesc, xmem)
	}
	recording := filepath.Join(t.TempDir(), "run.gemu")
	var out, errs bytes.Buffer
	if status := run(t.Context(), append(append([]string{"record", name}, histoArgs...), "--with", "accesses,source", "-o", recording), strings.NewReader(""), &out, &errs); status != exitGood {
		t.Fatalf("status %d: %s", status, &errs)
	}
	if replayed := totals(t, append([]string{"machine", "--from", recording}, flags...)...); !slices.Equal(replayed, list) {
		t.Errorf("%+v from a recording, want %+v", replayed, list)
	}
}

// TestPragmaErrors: a wrong descriptor in the PTX has status 2 and its place, with and without a clock.
func TestPragmaErrors(t *testing.T) {
	const at = "histo.ptx:7: .pragma " // the brace is in line 6
	for _, test := range []struct{ text, want string }{
		{`.pragma "gemu.locality type=NO_REUSE";`, at + `"gemu.locality": want param=NAME, the parameter of the kernel that points to the data`},
		{`.pragma "gemu.locality param=pixels type";`, at + `"gemu.locality": type: want NAME=VALUE`},
		{`.pragma "gemu.locality param=pixels type=NONE";`, at + `"gemu.locality": type "NONE": want INTER_THREAD, INTRA_THREAD or NO_REUSE`},
		{`.pragma "gemu.locality param=pixels param=x type=NO_REUSE";`, at + `"gemu.locality": param is given twice`},
		{`.pragma "gemu.locality param=pixels type=NO_REUSE ctile=1,2";`, at + `"gemu.locality": ctile: the value is a list of 2 numbers: want a list of three numbers`},
		{`.pragma "gemu.locality param=pixels type=NO_REUSE colour=1";`, at + `"gemu.locality": unknown field "colour"`},
		{`.pragma "gemu.locality param=pixels type=NO_REUSE element=x";`, at + `"gemu.locality": element: the value is a string: want a number`},
		{`.pragma "gemu.locality param=pixels type=NO_REUSE kernel=histo";`, at + `"gemu.locality": kernel: the data are those of param=NAME, in the launches of this kernel`},
		{`.pragma "gemu.atom param=pixels pattern=REGULAR access=READ_ONLY reuse=256";`, at + `"gemu.atom": reuse 256 and intensity 0: want numbers from 0 to 255`},
		{".pragma \"gemu.locality\tparam=pixels type=NONE\";", at + `"gemu.locality": type "NONE"`},
		{`.pragma "gemu.atoms param=pixels";`, at + `"gemu.atoms": unknown word: want gemu.locality or gemu.atom`},
		{`.pragma "gemu.locality param=pixels type=NO_REUSE Kernels=a,b";`, at + `"gemu.locality": Kernels: names have small letters only: want kernels`},
		{`.pragma "gemu.atom param=pixels pattern=REGULAR access=READ_ONLY REUSE=3 reuse=255";`, at + `"gemu.atom": REUSE: names have small letters`},
		{`.pragma "gemu.atom param=pixels pattern=REGULAR access=READ_ONLY properties=,";`, at + `"gemu.atom": properties=,: a value of the list is missing`},
		{`.pragma "gemu.atom param=pixels pattern=REGULAR access=READ_ONLY reuse=+256";`, at + `"gemu.atom": reuse 256 and intensity 0: want`},
		{`.pragma "gemu.atom param=pixels pattern=REGULAR access=READ_ONLY reuse=18446744073709551615";`, at + `"gemu.atom": reuse: the value is a number 18446744073709551615: want a number without fraction in the range of the field`},
		{`.pragma "gemu.locality param=pixels type=NO_REUSE ctile=1,4,1,7";`, at + `"gemu.locality": ctile: the value is a list of 4 numbers: want a list of three numbers`},
		{`.pragma "gemu.locality param=pixel type=NO_REUSE";`, `histo.ptx:7: param=pixel: kernel histo has no such parameter; it has pixels, bins, n`},
		{`.pragma "gemu.locality param=n type=NO_REUSE";`, `histo.ptx:7: parameter n has 4 bytes: want an address, of 8 bytes`},
	} {
		for _, part := range []string{"total", "cycles"} {
			var out, errs bytes.Buffer
			args := []string{"machine", withPragmas(t, test.text), "-g", "1", "-b", "32", "-a", "u32[32]", "u32[32]", "32", "--show", part, "--sweep", "sms=1", "--with", "ldesc=program+xmem=program"}
			if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitBad || !strings.Contains(errs.String(), test.want) {
				t.Errorf("%s: status %d: %s, want %s", test.text, status, &errs, test.want)
			}
		}
	}
}

// TestPragmaPlaces: the place of a wrong descriptor is that of its own directive, in the head of a kernel as in its body, and a descriptor
// outside of a kernel is an error, but not the pragma of an assist routine, which
// is an error in a kernel.
func TestPragmaPlaces(t *testing.T) {
	const (
		right    = `.pragma "gemu.atom param=p pattern=REGULAR access=READ_ONLY";`
		wrong    = `.pragma "gemu.atom param=p pattern=REGULAR access=NONE";`
		access   = `.pragma "gemu.atom": access "NONE": want READ_ONLY, READ_WRITE or WRITE_ONLY`
		outside  = `.pragma "gemu.atom" is outside of a kernel: want it in the body of the kernel that has the parameter`
		head     = ".version 8.0\n.target sm_80\n.address_size 64\n"
		function = ".func f()\n{\n\tret;\n}\n"
	)
	for _, test := range []struct{ text, want string }{
		{head + ".visible .entry k(.param .u64 p)\n{\n\t// " + wrong + "\n\t" + right + "\n\t" + wrong + "\n\tret;\n}\n", "k.ptx:8: " + access},
		{head + ".visible .entry k(.param .u64 p)\n" + wrong + "\n{\n\t" + right + "\n\tret;\n}\n", "k.ptx:5: " + access},
		{head + right + "\n.visible .entry k(.param .u64 p)\n{\n\tret;\n}\n", "k.ptx:4: " + outside},
		{head + ".func f()\n" + right + "\n.visible .entry k(.param .u64 p)\n{\n\tret;\n}\n", "k.ptx:5: " + outside},
		{head + strings.Replace(function, "{", "{\n\n\t"+right, 1) + ".visible .entry k(.param .u64 p)\n{\n\tret;\n}\n", "k.ptx:7: " + outside},
		{head + ".visible .entry k(.param .u64 p)\n{\n\t.pragma \"gemu.assist priority=low trigger=store:bdi\";\n\tret;\n}\n", "k.ptx:6: .pragma \"gemu.assist\": k is a kernel: want a .func"},
		{head + strings.Replace(function, "{", "{\n\t.pragma \"gemu.assist priority=low trigger=store:bdi\";", 1) + ".visible .entry k(.param .u64 p)\n{\n\t" + wrong + "\n\tret;\n}\n", "k.ptx:11: " + access},
	} {
		name := filepath.Join(t.TempDir(), "k.ptx")
		if err := os.WriteFile(name, []byte(test.text), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		args := []string{"machine", name, "-g", "1", "-b", "32", "-a", "u32[32]", "--with", "xmem=program"}
		if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitBad || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%s\nstatus %d: %s, want %s", test.text, status, &errs, test.want)
		}
	}
}

// TestNoDescriptors: a system that finds no descriptors in the program says so once for all machines, and gives a reason.
func TestNoDescriptors(t *testing.T) {
	const (
		noLocality = "gemu: --with ldesc=program has no effect: the program gives no Locality Descriptor for its launches. Want .pragma \"gemu.locality param=NAME …\" in the body of the kernel, or gemu_descriptors in the host program\n"
		noAtom     = "gemu: --with xmem=program has no effect: the program gives no atom for its launches. Want .pragma \"gemu.atom param=NAME …\" in the body of the kernel, or gemu_descriptors in the host program\n"
	)
	for _, test := range []struct {
		pragmas []string
		want    string
	}{{nil, noLocality + noAtom}, {[]string{localityText}, noAtom}, {[]string{atomText}, noLocality}, {[]string{localityText, atomText}, ""}} {
		var out, errs bytes.Buffer
		args := []string{"machine", withPragmas(t, test.pragmas...), "-g", "1", "-b", "32", "-a", "u32[32]", "u32[32]", "32", "--sweep", "sms=1,2", "--with", "ldesc=program+xmem=program"}
		if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitGood || errs.String() != test.want {
			t.Errorf("%q: status %d: %s, want %s", test.pragmas, status, &errs, test.want)
		}
	}
}

package play

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gemu/interp"
	"gemu/record"
)

const head = ".version 8.0\n.target sm_80\n.address_size 64\n"

// add writes n + lane to its buffer.
const add = head + `.visible .entry add(.param .u64 out, .param .u32 n)
{
	.reg .u32 %t, %n;
	.reg .u64 %o, %a;
	ld.param.u64 %o, [out];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	add.u32 %n, %n, %t;
	mad.wide.u32 %a, %t, 4, %o;
	st.global.u32 [%a], %n;
	ret;
}
`

// endless never ends, and changes memory all the time.
const endless = head + `.visible .entry endless(.param .u64 out)
{
	.reg .u32 %i;
	.reg .u64 %o;
	ld.param.u64 %o, [out];
	mov.u32 %i, 0;
AGAIN:
	add.u32 %i, %i, 1;
	st.volatile.global.u32 [%o], %i;
	bra AGAIN;
}
`

// waits is a barrier that half of the warp does not reach.
const waits = head + `.visible .entry waits()
{
	.reg .pred %p;
	.reg .u32 %t;
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 16;
	@%p bra HALF;
	bar.warp.sync 0xffffffff;
	ret;
HALF:
	bar.sync 0;
	ret;
}
`

func threads(n int) [3]int { return [3]int{n, 1, 1} }

// TestOutcomes: the three kinds of failure differ, and each has its message and its place. The expected places are those of the texts
// above.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		request Request
		engine  Engine
		status  Status
		message string // part of the message
		place   string
	}{
		"done":             {request: Request{Source: add, Block: threads(3), Arguments: []string{"u32[3]", "5"}}, status: Done},
		"no program":       {request: Request{Source: " \n"}, status: Failed, message: "the program is empty"},
		"no PTX":           {request: Request{Name: "a.ptx", Source: "hello"}, status: Failed, message: "a.ptx:1:1: ", place: "a.ptx:1:1"},
		"wrong opcode":     {request: Request{Name: "a.ptx", Source: strings.Replace(add, "add.u32", "adt.u32", 1)}, status: Failed, message: "did you mean add", place: "a.ptx:11:2"},
		"no kernel":        {request: Request{Source: add, Kernel: "ad"}, status: Failed, message: "ad"},
		"no block":         {request: Request{Source: add, Arguments: []string{"u32[3]", "5"}}, status: Failed, message: "the size of a block is missing"},
		"large block":      {request: Request{Source: add, Block: threads(1 << 30), Arguments: []string{"u32[3]", "5"}}, status: Failed, message: "1073741824"},
		"negative grid":    {request: Request{Source: add, Grid: [3]int{-1, 0, 0}, Block: threads(1), Arguments: []string{"u32[3]", "5"}}, status: Failed, message: "grid"},
		"few arguments":    {request: Request{Source: add, Block: threads(3), Arguments: []string{"u32[3]"}}, status: Failed, message: "out"},
		"wrong argument":   {request: Request{Source: add, Block: threads(3), Arguments: []string{"u32[3]", "x"}}, status: Failed, message: "argument 1"},
		"large argument":   {request: Request{Source: add, Block: threads(3), Arguments: []string{"u32[1000000000]", "5"}}, status: Failed, message: "memory"},
		"file":             {request: Request{Source: add, Block: threads(3), Arguments: []string{"@/etc/passwd", "5"}}, status: Failed, message: "the page may not read the file /etc/passwd"},
		"policy":           {request: Request{Source: add, Policy: "stak"}, status: Failed, message: "did you mean stack"},
		"architecture":     {request: Request{Source: add, SM: "new"}, status: Failed, message: `compute capability "new"`},
		"warp":             {request: Request{Source: add, Warp: 33, Block: threads(3), Arguments: []string{"u32[3]", "5"}}, status: Failed, message: "33"},
		"CUDA without one": {request: Request{Name: "a.cu", Source: "__global__"}, status: Failed, message: "no compiler"},
		"CUDA, refused": {request: Request{Name: "a.cu", Source: "x"}, status: Failed, message: "expected", place: "a.cu:1:2", engine: Engine{Compile: func(context.Context, string, string) (string, error) {
			return "", &CompileError{"a.cu", "warning: nothing\na.cu:1:2: error: expected\n"}
		}}},
		"outside":     {request: Request{Name: "a.ptx", Source: add, Block: threads(5), Arguments: []string{"u32[3]", "5"}}, status: Trapped, message: "trap: out-of-bounds global store", place: "a.ptx:13:2"},
		"deadlock":    {request: Request{Name: "a.ptx", Source: waits, Block: threads(32)}, status: Deadlock, message: "deadlock", place: "a.ptx:11:2"},
		"endless":     {request: Request{Source: endless, Block: threads(1), Arguments: []string{"u32[1]"}, MaxEvents: 100}, status: Stopped, message: "stopped at the limit of 100 events"},
		"many steps":  {request: Request{Source: endless, Block: threads(1), Arguments: []string{"u32[1]"}, MaxSteps: 50}, status: Stopped, message: "step limit"},
		"huge grid":   {request: Request{Source: add, Grid: [3]int{1 << 30, 65535, 65535}, Block: threads(1), Arguments: []string{"u32[1]", "5"}}, status: Stopped, message: "events"},
		"huge source": {request: Request{Source: add}, engine: Engine{Limits: Limits{Source: 100}}, status: Failed, message: "want at most 100"},
	} {
		begin := time.Now()
		r, err := c.engine.Run(t.Context(), &c.request)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		place := ""
		if p := r.Place; p != nil {
			place = p.File + ":" + itoa(p.Line) + ":" + itoa(p.Column)
		}
		if r.Status != c.status || !strings.Contains(r.Message, c.message) || (r.Message == "") != (c.status == Done) || place != c.place && c.place != "" {
			t.Errorf("%s: %s at %q: %s; want %s at %q: %s", name, r.Status, place, r.Message, c.status, c.place, c.message)
		}
		if (len(r.Recording) > 0) != (c.status != Failed) {
			t.Errorf("%s: a recording of %d bytes", name, len(r.Recording))
		}
		if d := time.Since(begin); d > time.Minute {
			t.Errorf("%s took %s", name, d)
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestWrongArgument: an error of an argument has its index and the byte in its text.
func TestWrongArgument(t *testing.T) {
	r, err := new(Engine).Run(t.Context(), &Request{Source: add, Block: threads(1), Arguments: []string{"u32[1]", "5"}, Set: nil})
	if err != nil || r.Status != Done || r.Argument != nil {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = new(Engine).Run(t.Context(), &Request{Source: add, Block: threads(1), Arguments: []string{"u32[1]=2x", "5"}})
	if err != nil || r.Status != Failed || r.Argument == nil || *r.Argument != 0 || r.Offset != len("u32[1]=") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestWrongField: an error of a field of the launch names the field, and other errors name none.
func TestWrongField(t *testing.T) {
	for text, want := range map[string]string{
		`"grid":[3,1,1],"block":[1,1,1],"cluster":[2,1,1]`:                                         "cluster",
		`"grid":[32,1,1],"block":[1,1,1],"cluster":[32,1,1]`:                                       "cluster",
		`"grid":[1,70000,1],"block":[1,1,1]`:                                                       "grid",
		`"grid":[1,1,1],"block":[2048,1,1]`:                                                        "block",
		`"grid":[1,1,1]`:                                                                           "block",
		`"grid":[1,1,1],"block":[1,1,1],"shared":-1`:                                               "shared",
		`"grid":[1,1,1],"block":[1,1,1],"shared":2147483647`:                                       "shared",
		`"grid":[1,1,1],"block":[1,1,1],"seed":-1`:                                                 "seed",
		`"grid":[1,1,1],"block":[1,1,1],"warp":3`:                                                  "warp",
		`"grid":[1,1,1],"block":[1,1,1],"sm":"x"`:                                                  "sm",
		`"grid":[1,1,1],"block":["x",1,1]`:                                                         "block",
		`"grid":[99999,1,1],"block":[1,1,1],"cooperative":true`:                                    "cooperative",
		`"grid":[1,1,1],"block":[1,1,1],"policy":"fast"`:                                           "",
		`"grid":[2,1,1],"block":[1,1,1],"cluster":[2,1,1],"shared":64,"seed":9,"cooperative":true`: "",
	} {
		source, _ := json.Marshal(add)
		r, err := new(Engine).RunJSON(t.Context(), fmt.Appendf(nil, `{"source":%s,"arguments":["u32[1]","5"],%s}`, source, text))
		if err != nil || r.Field != want || (r.Status == Failed) != (want != "" || strings.Contains(text, "fast")) {
			t.Errorf("%s: field %q, %s %q, %v; want field %q", text, r.Field, r.Status, r.Message, err, want)
		}
	}
}

// TestResponse: a run that is done has its outputs, its kernels and a recording, which the page reads after the JSON.
func TestResponse(t *testing.T) {
	q := Request{Name: "dir/add.ptx", Source: ".file 1 \"/x/add.cu\"\n" + add, Files: map[string]string{"add.cu": "the source"}, Block: threads(3), Arguments: []string{"u32[2000]=7", "5"}, Policy: "its:8", Memory: true}
	q.Source = strings.Replace(add, "\tmov.u32 %t", "\t.loc 1 1 1\n\tmov.u32 %t", 1)
	q.Source = strings.Replace(q.Source, head, head+".file 1 \"/x/add.cu\"\n", 1)
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	r, err := new(Engine).RunJSON(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	b := r.Encode()
	n := binary.LittleEndian.Uint32(b)
	var got Response
	if err := json.Unmarshal(b[4:4+n], &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != Done || got.Kernel != "add" || got.Policy != "its:8" || len(got.Kernels) != 1 || len(got.Kernels[0].Parameters) != 2 || got.Kernels[0].Parameters[1] != (Parameter{"n", ".u32"}) {
		t.Errorf("%+v", got)
	}
	if len(got.Outputs) != 1 || got.Outputs[0].Length != 2000 || len(got.Outputs[0].Values) != 1024 || got.Outputs[0].Type != "u32" || !slices.Equal(got.Outputs[0].Values[:4], []string{"5", "6", "7", "7"}) {
		t.Errorf("outputs %+v", got.Outputs)
	}
	recording := b[4+n:]
	f, err := record.Open("r", bytes.NewReader(recording), int64(len(recording)))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := record.Read[record.SourceRow](f, 0, math.MaxUint64)
	if err != nil || len(sources) != 2 || sources[0].Text != q.Source || sources[1] != (record.SourceRow{Kind: record.CompiledSource, Name: "/x/add.cu", Text: "the source"}) {
		t.Errorf("sources %+v, %v", sources, err)
	}
	events, err := record.Read[record.EventRow](f, 0, math.MaxUint64)
	if err != nil || uint64(len(events)) != got.Events || got.Instructions != 7 {
		t.Errorf("%d events, want %d; %d instructions, %v", len(events), got.Events, got.Instructions, err)
	}
	if f.Table("images").Rows == 0 {
		t.Error("the recording has no memory")
	}
}

// TestCancel: a run ends soon after its context, also without events.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begin := time.Now()
	r, err := (&Engine{Limits: Limits{Events: math.MaxInt64, Bytes: math.MaxInt64, Steps: math.MaxInt64}}).Run(ctx, &Request{Source: endless, Block: threads(1), Arguments: []string{"u32[1]"}, MaxEvents: math.MaxInt64})
	if r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("the run took %s", d)
	}
}

// TestBadRequest: a text that is no request has an error of its own.
func TestBadRequest(t *testing.T) {
	for _, text := range []string{"", "[]", `{"grid":"x"}`, `{"grid":[1,1,1`} {
		if r, err := new(Engine).RunJSON(t.Context(), []byte(text)); err != nil || r.Status != Failed || !strings.Contains(r.Message, "the request is not valid") {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
}

// TestPolicies: the page offers every policy of gemu, each with its description, and its with time slices of 1 and 8.
func TestPolicies(t *testing.T) {
	docs := map[string]string{}
	for _, p := range Policies() {
		r, err := interp.ParseReconverger(p.Name)
		if err != nil || p.Doc == "" || p.Doc != r.Doc() || docs[p.Name] != "" {
			t.Errorf("%+v, %v", p, err)
		}
		docs[p.Name] = p.Doc
	}
	for _, r := range interp.Reconvergers() {
		if docs[r.Name()] == "" {
			t.Errorf("%s is missing", r.Name())
		}
	}
	if docs["its:1"] == "" || docs["its:8"] == "" || len(docs) != len(interp.Reconvergers())+2 {
		t.Errorf("%q", docs)
	}
}

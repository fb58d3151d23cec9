package learn_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemu/argument"
	"gemu/cli"
	"gemu/docs"
	"gemu/docs/learn"
	"gemu/internal/part"
	"gemu/internal/strip"
	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

var update = flag.Bool("update", false, "rewrite the pictures that have changed")

// gemu runs a command line of gemu in a directory with the documents and kernels of the repository, and returns its output.
func gemu(t *testing.T, dir string, args ...string) (output string, status int) {
	t.Helper()
	t.Setenv("COLUMNS", "80")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "docs")); err != nil {
		if err := os.Symlink(filepath.Join(root, "docs"), filepath.Join(dir, "docs")); err != nil {
			t.Fatal(err)
		}
	}
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(home)
	var out bytes.Buffer
	status = cli.Run(t.Context(), cli.Extensions{}, args, strings.NewReader(""), &out, &out)
	return out.String(), status
}

// launchArguments returns the arguments of gemu that launch an example.
func launchArguments(e *learn.Example) []string {
	size := func(d [3]int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(d), " ", ","), "[]") }
	return append([]string{"docs/learn/" + e.ID + ".ptx", "-k", e.Kernel, "-g", size(e.Grid), "-b", size(e.Block), "-a"}, e.Arguments...)
}

// strips runs an example under each of its policies.
func strips(e *learn.Example, t *testing.T) (list []*strip.Strip) {
	t.Helper()
	for _, name := range e.Policies {
		r := strip.NewRecorder(strip.Options{})
		dev := interp.NewDevice(interp.Config{Probes: []probe.Probe{r}})
		m, err := dev.Load(e.ID+".ptx", []byte(e.PTX))
		if err != nil {
			t.Fatal(err)
		}
		kernel, err := m.Kernel(e.Kernel)
		if err != nil {
			t.Fatal(err)
		}
		arguments, err := argument.Bind(t.Context(), m, kernel, e.Arguments)
		if err != nil {
			t.Fatal(err)
		}
		policy, err := interp.ParseReconverger(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = m.Run(context.Background(), &interp.Launch{Kernel: e.Kernel, Grid: dim(e.Grid), Block: dim(e.Block), Args: arguments.Values, Reconverge: policy}) // Strip.Err
		list = append(list, r.Strips()[0])
	}
	return list
}

func dim(d [3]int) ptx.Dim3 { return ptx.Dim3{X: d[0], Y: d[1], Z: d[2]} }

// TestPages: each example has its files, a page with a title, a question and an answer; the page shows the CUDA C and lines of the PTX
// as they are, and its commands launch the kernel as the example does. The README lists all pages in order.
func TestPages(t *testing.T) {
	if len(learn.Examples) != 10 {
		t.Errorf("%d examples", len(learn.Examples))
	}
	overview, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(overview)
	for i := range learn.Examples {
		e := &learn.Examples[i]
		link := fmt.Sprintf("[%d. %s](%s.md)", i+1, e.Title, e.ID)
		_, after, ok := strings.Cut(rest, link)
		if !ok {
			t.Errorf("README.md does not list %s in this order", link)
		}
		rest = after
		if e.Title == "" || e.Question == "" || e.Answer == "" || learn.Find(e.ID) != e {
			t.Errorf("%s: title %q, question %q, answer %q", e.ID, e.Title, e.Question, e.Answer)
		}
		if !strings.Contains(e.Text, "```cuda\n"+strings.TrimSuffix(e.CUDA, "\n")+"\n```\n") {
			t.Errorf("%s.md does not show %s.cu", e.ID, e.ID)
		}
		if !strings.Contains(e.PTX, `.file 1 "`+e.ID+`.cu"`) {
			t.Errorf("%s.ptx does not name %s.cu as its source", e.ID, e.ID)
		}
		program := strings.Split(e.PTX, "\n")
		for _, line := range regexp.MustCompile(`(?m)^([ \d]\d)  (\S.*|    .*)$`).FindAllStringSubmatch(e.Text, -1) {
			var n int
			fmt.Sscan(line[1], &n)
			if n < 1 || n > len(program) || strings.TrimSpace(program[n-1]) != strings.TrimSpace(line[2]) {
				t.Errorf("%s.md: %q is not line %d of the PTX", e.ID, line[2], n)
			}
		}
		launch := strings.Join(launchArguments(e)[3:], " ")
		for _, command := range regexp.MustCompile(`(?m)^\$ gemu .*$`).FindAllString(e.Text, -1) {
			words := strings.ReplaceAll(command, "'", "")
			short := strings.ReplaceAll(strings.ReplaceAll(launch, ",1,1", ""), "  ", " ")
			if !strings.Contains(words, "docs/learn/"+e.ID+".ptx "+short) && !(e.ID == "memory" && strings.Contains(words, "1 33")) {
				t.Errorf("%s.md: the command %s does not launch the example: %s", e.ID, command, short)
			}
		}
		for _, policy := range e.Policies {
			if len(e.Policies) > 1 && !strings.Contains(e.Text, policy) {
				t.Errorf("%s.md does not name the policy %s", e.ID, policy)
			}
		}
		if !strings.Contains(e.Text, "gemu play --example "+e.ID+"`") {
			t.Errorf("%s.md does not say how to open the example", e.ID)
		}
	}
}

// TestTerms: the glossary has each term that the pages introduce in italics.
func TestTerms(t *testing.T) {
	inflected := map[string]string{"diverges": "diverge", "policy": "reconvergence policy", "aligned": "barrier"}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`[^*]\*([A-Za-z][a-zA-Z ]*)\*[^*]`).FindAllStringSubmatch(string(text), -1) {
			term := strings.ToLower(m[1])
			if to, ok := inflected[term]; ok {
				term = to
			}
			if len(strings.Fields(term)) > 4 { // the title of a paper
				continue
			}
			found++
			if !strings.Contains(docs.Glossary, "\n| "+term+" |") && !strings.Contains(docs.Glossary, "\n| "+strings.TrimSuffix(term, "s")+" |") {
				t.Errorf("%s: the glossary has no %q", name, term)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d terms", found)
	}
}

// TestPictures: the pictures are those that the commands of the pages write. The flag -update writes them.
func TestPictures(t *testing.T) {
	part.SkipShort(t)
	dir := t.TempDir()
	for _, e := range learn.Examples {
		command := regexp.MustCompile(`(?m)^\$ gemu ((?:reconverge|profile) .*--svg ` + e.ID + `\.svg)$`).FindStringSubmatch(e.Text)
		if command == nil || !strings.Contains(e.Text, "]("+e.ID+".svg)") {
			t.Errorf("%s.md has no command that writes %s.svg, or does not show it", e.ID, e.ID)
			continue
		}
		gemu(t, dir, strings.Fields(strings.ReplaceAll(command[1], "'", ""))...)
		got, err := os.ReadFile(filepath.Join(dir, e.ID+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(e.ID+".svg", got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(e.ID + ".svg")
		if err != nil || !bytes.Equal(got, want) || len(got) > 50<<10 {
			t.Errorf("%s.svg is not what its command writes, or larger than 50 kB: go test ./docs/learn -update (%v)", e.ID, err)
		}
	}
}

// TestCompiled: what clang makes of the CUDA C leaves the same memory as the PTX written by hand, or fails in the same way.
func TestCompiled(t *testing.T) {
	part.SkipShort(t)
	if _, err := exec.LookPath("clang-19"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for i := range learn.Examples {
		e := &learn.Examples[i]
		policies := []string{"auto"}
		if e.ID == "lock" || e.ID == "barrier" {
			policies = e.Policies
		}
		for _, policy := range policies {
			run := func(file string, more ...string) (string, int) {
				args := launchArguments(e)
				args[0] = file
				out, status := gemu(t, dir, slices.Concat([]string{"run"}, args, []string{"--reconverge", policy}, outputs(e), more)...)
				if status != 0 { // other lines and counts
					_, out, _ = strings.Cut(out, "trap: ")
					out, _, _ = strings.Cut(out, "\n")
				}
				return out, status
			}
			want, status := run("docs/learn/" + e.ID + ".ptx")
			got, compiledStatus := run("docs/learn/"+e.ID+".cu", "--branches")
			if got != want || status != compiledStatus || want == "" {
				t.Errorf("%s under %s: status %d, compiled %d\n%s\nnot\n%s", e.ID, policy, status, compiledStatus, got, want)
			}
		}
	}
}

// outputs returns the flags that print the buffers of an example.
func outputs(e *learn.Example) (flags []string) {
	for i, a := range e.Arguments {
		if strings.Contains(a, "[") {
			flags = append(flags, "--out", fmt.Sprintf("%d=-", i))
		}
	}
	return flags
}

// TestMoments: each moment is a step of its warp under its policy.
func TestMoments(t *testing.T) {
	for i := range learn.Examples {
		e := &learn.Examples[i]
		p := slices.Index(e.Policies, e.Moment.Policy)
		if p < 0 {
			t.Errorf("%s: the moment has the policy %s, which is not compared", e.ID, e.Moment.Policy)
			continue
		}
		if w := strips(e, t)[p].Warps[e.Moment.Warp]; w.RunAt(e.Moment.Step) == nil {
			t.Errorf("%s: step %d of %d", e.ID, e.Moment.Step, w.Steps)
		}
	}
}

// The lanes of a full warp.
const (
	even = 0x5555_5555
	odd  = 0xaaaa_aaaa
	full = even | odd
)

// TestAnswers: each answer is what happens, read from the steps and not from the printed strips.
func TestAnswers(t *testing.T) {
	of := func(id string) []*strip.Strip { return strips(learn.Find(id), t) }
	check := func(id string, statements ...bool) {
		t.Helper()
		for i, holds := range statements {
			if !holds {
				t.Errorf("%s: statement %d of the answer does not hold", id, i+1)
			}
		}
	}
	waits := func(w *strip.Warp, step int, lanes uint64) *strip.Wait {
		for _, x := range w.RunAt(step).Waits {
			if x.Lanes == lanes {
				return &x
			}
		}
		return &strip.Wait{}
	}
	line := func(s *strip.Strip, x *strip.Wait) int { return s.Program[x.At].Line }

	s := of("threads")[0]
	lanes := 0
	for _, w := range s.Warps {
		for m := w.Lanes; m != 0; m &= m - 1 {
			lanes++
		}
	}
	check("threads", len(s.Warps) == 4 && s.OtherWarps == 0, lanes == 80 && 4*32-lanes == 48)

	s = of("ifelse")[0]
	w := s.Warps[0]
	check("ifelse", w.Steps == 14, w.RunAt(8).Active == odd && w.RunAt(9).Active == odd, line(s, waits(w, 8, even)) == 27, w.RunAt(10).Active == even)

	s = of("return")[0]
	check("return", s.Warps[1].Steps == 5, s.Warps[0].Steps == 9, s.Warps[0].RunAt(5).Alive() == 1<<20-1)

	s = of("loop")[0]
	w = s.Warps[0]
	rounds := 0
	for i := range w.Runs {
		if r := &w.Runs[i]; s.Program[r.From].Line <= 26 && s.Program[r.To].Line == 26 { // the branch back
			rounds++
		}
	}
	mean := fmt.Sprintf("%.1f", w.ActiveLanesMean())
	check("loop", rounds == 5, mean == "19.7", w.RunAt(30).Active == 1<<31, line(s, waits(w, 30, full>>1)) == 29)

	s = of("nested")[0]
	w = s.Warps[0]
	check("nested", w.RunAt(6).Active == 0xff00 && s.Program[w.RunAt(6).From].Line == 21, line(s, waits(w, 6, 0xff)) == 25, line(s, waits(w, 6, 0xffff_0000)) == 32)

	for _, s := range of("barrier") {
		check("barrier", s.Err != nil && strings.HasPrefix(s.EndText(), "deadlock"), len(s.Warps[0].Final) == 2 && s.Program[s.Warps[0].Final[0].At].Line+s.Program[s.Warps[0].Final[1].At].Line == 22+26)
	}
}

// TestAnswersOfPolicies checks the answers of two lessons that compare policies. lock: under stack the launch is a deadlock, in which
// lane 0 waits for all other lanes; under its:8 the lanes end one by one, the lowest first. scheduling: the statements run in the order
// A B X Y Z under stack, and in the order A X B Y Z under its:1, which changes the warp split after each instruction.
func TestAnswersOfPolicies(t *testing.T) {
	lock := learn.Find("lock")
	list := strips(lock, t)
	w := list[0].Warps[0]
	if last := w.Final; !strings.HasPrefix(list[0].EndText(), "deadlock") || len(last) != 2 || last[1].Lanes != 1 || last[1].Missing != full&^1 || list[0].Program[last[1].At].Line != 21 {
		t.Errorf("lock under stack: %q, %+v", list[0].EndText(), w.Final)
	}
	w = list[1].Warps[0]
	alive := uint64(full)
	for i := range w.Runs {
		now := w.Runs[i].Alive()
		if ended := alive &^ now; ended != 0 && ended != alive&-alive {
			t.Errorf("lock under its:8, step %d: lanes %#x end, not the lowest of %#x", w.Runs[i].First, ended, alive)
		}
		alive = now
	}
	if list[1].Err != nil || alive != 1<<31 {
		t.Errorf("lock under its:8: %v, lanes %#x are the last", list[1].Err, alive)
	}

	scheduling := learn.Find("scheduling")
	for i, want := range map[int]string{0: "IAXBYZ", 2: "IABXYZ"} {
		s, got := strips(scheduling, t)[i], ""
		for _, r := range s.Warps[0].Runs {
			if letter := string(s.Blocks[r.Block].Letter); !strings.HasSuffix(got, letter) {
				got += letter
			}
		}
		if got != want {
			t.Errorf("scheduling under %s: %s, want %s", scheduling.Policies[i], got, want)
		}
	}
}

// TestMemoryAnswer: 32 lanes that load 32 bytes apart touch 32 sectors, and neighbouring lanes 4; words 0, 32, 64 … of shared memory are
// in one bank, which takes 31 additional passes, and words 0, 33, 66 … in different banks.
func TestMemoryAnswer(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ stride, width, sectors, conflicts string }{{"8", "32", "32.0", "31"}, {"1", "33", "4.0", "0"}} {
		args := launchArguments(learn.Find("memory"))
		args = append(args[:len(args)-2], c.stride, c.width)
		out, _ := gemu(t, dir, slices.Concat([]string{"profile"}, args, []string{"--show", "lines", "--ptx", "--lines"})...)
		for _, want := range []string{` ` + regexp.QuoteMeta(c.sectors) + ` .* 19  ld\.global`, ` ` + c.conflicts + ` .* 25  st\.shared`} {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("stride %s, width %s: no line with %s in\n%s", c.stride, c.width, want, out)
			}
		}
	}
}

// TestPaperLabels: the classes of the example values are the labels that the paper prints in figure 1(c), from the first instruction
// to the last: u for uniform, a for affine, g for generic. The label of a load or store is the class of its address, which gemu
// prints before that of the value. The paper labels branches u, also if they diverge; gemu prints d for them. The label of
// %ctaid.x, line 5 of the figure, is a in the paper; within a warp it is uniform.
func TestPaperLabels(t *testing.T) {
	const printed = "u u u u a a a a a a g a g u u u a u"
	const ctaid = 4 // index of mov.u32 %r6, %ctaid.x
	out, status := gemu(t, t.TempDir(), slices.Concat([]string{"structure"}, launchArguments(learn.Find("values")), []string{"--show", "listing"})...)
	if status != 0 {
		t.Fatal(out)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^ +\d+  ([uagd])(?:[→←][uag])? +\d`).FindAllStringSubmatch(out, -1) {
		got = append(got, strings.Replace(m[1], "d", "u", 1))
	}
	want := strings.Fields(printed)
	want[ctaid] = "u"
	if !slices.Equal(got, want) {
		t.Errorf("labels %v, printed %v", got, want)
	}
}

// Package learn has the ten examples of docs/learn: kernels that show how warps run, each with a page, a question and its answer.
// gemu play opens them; the pages can be read without it.
//
// # Errors and compatibility
//
// The package has no functions that fail. Examples may be added at any time: find an example by its ID.
package learn

import (
	"embed"
	"strings"
)

// Example is a kernel with a launch that shows something.
type Example struct {
	ID        string   // name of its files: ID.md, ID.ptx, ID.cu and ID.svg
	Kernel    string   // name of the kernel
	Grid      [3]int   // CTAs in x, y and z
	Block     [3]int   // threads of a CTA in x, y and z
	Arguments []string // arguments of the kernel, as gemu run reads them
	Policies  []string // reconvergence policies to compare, the first one first
	Moment    Moment   // where the question is asked

	Title    string // heading of the page, without its number
	Question string // the question, in Markdown
	Answer   string // the answer, in Markdown
	Text     string // the whole page, in Markdown
	PTX      string // the program
	CUDA     string // the same program in CUDA C; the PTX names its lines
}

// Moment is a step of a warp of the first CTA.
type Moment struct {
	Policy string // reconvergence policy, one of Example.Policies
	Step   int    // number of the step, from 1, as in strips
	Warp   int    // index of the warp
}

// Examples are the examples, in the order of the path from zero.
var Examples = []Example{
	{
		ID: "threads", Kernel: "threads", Grid: [3]int{2, 1, 1}, Block: [3]int{40, 1, 1},
		Arguments: []string{"u32[80]"}, Policies: []string{"stack"}, Moment: Moment{"stack", 4, 1},
	},
	{
		ID: "ifelse", Kernel: "ifelse", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1},
		Arguments: []string{"u32[32]", "u32[32]=iota"}, Policies: []string{"stack", "frontier"}, Moment: Moment{"stack", 8, 0},
	},
	{
		ID: "return", Kernel: "squares", Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1},
		Arguments: []string{"u32[64]", "20"}, Policies: []string{"stack", "stack-wait"}, Moment: Moment{"stack", 5, 0},
	},
	{
		ID: "loop", Kernel: "bits", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1},
		Arguments: []string{"u32[32]"}, Policies: []string{"stack"}, Moment: Moment{"stack", 24, 0},
	},
	{
		ID: "nested", Kernel: "nested", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1},
		Arguments: []string{"u32[32]"}, Policies: []string{"stack", "frontier"}, Moment: Moment{"stack", 6, 0},
	},
	{
		ID: "barrier", Kernel: "barrier", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1},
		Arguments: []string{"u32[32]"}, Policies: []string{"stack", "its"}, Moment: Moment{"stack", 8, 0},
	},
	{
		ID: "lock", Kernel: "lock", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1},
		Arguments: []string{"u32[1]", "u32[1]"}, Policies: []string{"stack", "its:8"}, Moment: Moment{"stack", 40, 0},
	},
	{
		ID: "scheduling", Kernel: "scheduling", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1},
		Arguments: []string{"u32[32]"}, Policies: []string{"its:1", "its", "stack"}, Moment: Moment{"its:1", 5, 0},
	},
	{
		ID: "memory", Kernel: "memory", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1},
		Arguments: []string{"u32[32]", "u32[256]=iota", "8", "32"}, Policies: []string{"stack"}, Moment: Moment{"stack", 6, 0},
	},
	{
		ID: "values", Kernel: "ex_gpsimt_kernel", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1},
		Arguments: []string{"u32[32]=rand:1", "3"}, Policies: []string{"stack"}, Moment: Moment{"stack", 11, 0},
	},
}

// Find returns the example with an ID; nil if there is none.
func Find(id string) *Example {
	for i := range Examples {
		if Examples[i].ID == id {
			return &Examples[i]
		}
	}
	return nil
}

//go:embed *.md *.ptx *.cu
var files embed.FS

func init() {
	read := func(name string) string {
		b, err := files.ReadFile(name)
		if err != nil {
			panic("BUG: docs/learn: " + err.Error())
		}
		return string(b)
	}
	for i := range Examples {
		e := &Examples[i]
		e.Text, e.PTX, e.CUDA = read(e.ID+".md"), read(e.ID+".ptx"), read(e.ID+".cu")
		heading, _, _ := strings.Cut(e.Text, "\n")
		_, e.Title, _ = strings.Cut(heading, ". ")
		e.Question, e.Answer = section(e.Text, "Question"), section(e.Text, "Answer")
	}
}

// section returns the text below a heading of a page.
func section(page, heading string) string {
	_, text, _ := strings.Cut(page, "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.TrimSpace(text)
}

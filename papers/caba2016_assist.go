package papers

// This file has the cost of the assist routines of the CABA paper: instructions and registers. docs/caba.md defines the columns.

import (
	"fmt"

	"gemu/interp"
	"gemu/machine"
	"gemu/machine/assist"
	"gemu/machine/codec"
	"gemu/machine/stream"
)

// cabaSmallest is an interpretation of table "assist".
const cabaSmallest = "smallest first"

// assistCodecs are the algorithms with assist routines, and their names in columns.
var assistCodecs = []struct {
	codec codec.Codec
	name  string
}{{codec.BDI, "bdi"}, {codec.FPC, "fpc"}, {codec.CPack, "c_pack"}}

// assistJob is a line that a routine compresses, or whose form it decompresses.
type assistJob struct {
	routine *assist.Routine
	line    codec.Line
	hint    codec.Encoding
}

// assistCost is the number of executions of routines, and of their warp instructions.
type assistCost struct{ runs, instructions int64 }

// mean returns the instructions of an execution; 0 without executions.
func (c assistCost) mean() float64 {
	if c.runs == 0 {
		return 0
	}
	return float64(c.instructions) / float64(c.runs)
}

// assistCosts counts the costs of a program, by column.
type assistCosts map[string]assistCost

// assistJobs executes jobs, many at a time. Each outcome must be that of package codec.
type assistJobs struct {
	sandbox  *assist.Sandbox
	counts   map[assistJob]map[string]int64 // executions by column
	costs    assistCosts
	reads    int            // lines that the L2 has read
	writes   int            // lines that it has written
	encoding codec.Encoding // of the line that BDI has compressed last
}

const (
	maxAssistJobs = 1 << 14 // number of different jobs that are kept at a time
	assistStride  = 17      // the routines run for each 17th line that is read, and for each 17th that is written; a power of two could select the same place of each row of a picture
)

// add adds a job of a column.
func (j *assistJobs) add(m *Meter, column string, job assistJob) error {
	if j.counts[job] == nil {
		if len(j.counts) >= maxAssistJobs {
			if err := j.flush(m); err != nil {
				return err
			}
		}
		j.counts[job] = map[string]int64{}
	}
	j.counts[job][column]++
	return nil
}

// transfer adds the jobs of a transferred line: each algorithm compresses a written line, and decompresses a line that is read in its
// smallest form.
func (j *assistJobs) transfer(m *Meter, line *codec.Line, write bool) error {
	hint := j.encoding
	if write {
		var form codec.Line
		if codec.EncodeBDI(&form, line, hint) < codec.LineBytes {
			j.encoding = codec.Encoding(form[0])
		}
	}
	lines := &j.reads
	if write {
		lines = &j.writes
	}
	if *lines++; *lines%assistStride != 1 {
		return nil
	}
	for _, c := range assistCodecs {
		if !write {
			if bytes, e := c.codec.Size(line); bytes < codec.LineBytes {
				if err := j.add(m, c.name+"_fill", assistJob{j.sandbox.Fill(c.codec, e), *line, 0}); err != nil {
					return err
				}
			}
			continue
		}
		job := assistJob{j.sandbox.Store(c.codec), *line, 0}
		if c.codec == codec.BDI {
			if err := j.add(m, "bdi_store "+cabaSmallest, job); err != nil {
				return err
			}
			job.hint = hint
		}
		if err := j.add(m, c.name+"_store", job); err != nil {
			return err
		}
	}
	return nil
}

// flush executes the jobs.
func (j *assistJobs) flush(m *Meter) error {
	byRoutine := map[*assist.Routine][]assistJob{}
	for job := range j.counts {
		byRoutine[job.routine] = append(byRoutine[job.routine], job)
	}
	for r, jobs := range byRoutine {
		in, hints := make([]codec.Line, len(jobs)), make([]codec.Encoding, len(jobs))
		for i, job := range jobs {
			in[i], hints[i] = job.line, job.hint
			if r.Event() == assist.Fill {
				r.Codec().Encode(&in[i], &job.line)
			}
		}
		outcomes, err := j.sandbox.Run(m.ctx, r, in, hints)
		if err != nil {
			return err
		}
		for i, o := range outcomes {
			if err := r.Check(&jobs[i].line, hints[i], &o); err != nil {
				return err
			}
			for column, n := range j.counts[jobs[i]] {
				cost := j.costs[column]
				cost.runs += n
				cost.instructions += n * int64(o.Instructions)
				j.costs[column] = cost
			}
		}
	}
	clear(j.counts)
	return nil
}

// cabaAssist runs a program on the paper's machine, and each assist routine for the lines that the L2 reads and writes back.
func cabaAssist(m *Meter, p *cabaProgram) (assistCosts, error) {
	return measureOnce(m, "caba2016 assist "+p.workload, func() (assistCosts, error) {
		sandbox, err := assist.NewSandbox(assist.Standard()...)
		if err != nil {
			return nil, err
		}
		defer sandbox.Close()
		jobs := &assistJobs{sandbox: sandbox, counts: map[assistJob]map[string]int64{}, costs: assistCosts{}}
		spec, _ := machine.Find("caba")
		on := machine.New(spec, 0)
		on.OnTransfer(func(x *machine.Transfer) {
			var line stream.Line
			if err == nil && x.Bytes(&line) {
				l := codec.Line(line)
				err = jobs.transfer(m, &l, x.Write)
			}
		})
		if err := m.run(p.workload, p.size, func(*interp.Launch) {}, stream.NewDataRecorder(on)); err != nil {
			return nil, err
		}
		if err == nil {
			err = jobs.flush(m)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.workload, err)
		}
		return jobs.costs, m.verify.machine(on)
	})
}

func cabaAssistCosts() *Table {
	columns := []Column{}
	for _, c := range assistCodecs {
		name := c.codec.String()
		columns = append(columns,
			Column{Name: c.name + "_fill", Head: [2]string{name, "fill"}, Digits: 1, Doc: "warp instructions that decompress a line in a form of " + name + ", mean of the lines that the L2 reads from memory"},
			Column{Name: c.name + "_store", Head: [2]string{name, "store"}, Digits: 1, Doc: "warp instructions that compress a line by " + name + ", or find that it has no form, mean of the lines that the L2 writes to memory"})
	}
	return &Table{
		Name: "assist", Title: "instructions of assist routines for a line (sections 5.1.2 to 5.1.4)",
		Note:        "The paper states no numbers. The routines run for each 17th line in each direction; each outcome was compared with the form or the line of package codec.",
		OnlyIfNamed: true,
		Columns:     columns,
		Rows:        cabaRows(nil, Row{Name: cabaMean, Values: map[string]float64{}}),
		Interpretations: []Interpretation{
			{cabaHeadline, "BDI first tries the encoding of the previous line"},
			{cabaSmallest, "BDI first tries the smallest encodings"},
		},
		Measure: cabaMeasure(func(m *Meter, p *cabaProgram, r *Interpretation) (map[string]float64, error) {
			costs, err := cabaAssist(m, p)
			if err != nil {
				return nil, err
			}
			values := map[string]float64{}
			for _, c := range columns {
				cost, ok := costs[c.Name]
				if c.Name == "bdi_store" && r.Name == cabaSmallest {
					cost = costs["bdi_store "+cabaSmallest]
				}
				if ok {
					values[c.Name] = cost.mean()
				}
			}
			return values, nil
		}),
	}
}

func cabaRoutines() *Table {
	var rows []Row
	for _, r := range assist.StandardRoutines() {
		rows = append(rows, Row{Name: r.Name(), Values: map[string]float64{}, Summary: true})
	}
	return &Table{
		Name: "routines", Title: "registers of assist routines, which a thread of each block has in addition (section 4.2.2)",
		Note: "The paper states no numbers.",
		Columns: []Column{
			{Name: "registers", Head: [2]string{"", "registers"}, Doc: "registers of 4 bytes that have a value at the same place"},
			{Name: "instructions", Head: [2]string{"instruc-", "tions"}, Doc: "instructions in the text"},
		},
		Rows:            rows,
		Interpretations: []Interpretation{{cabaHeadline, "predicates do not count"}},
		Measure: func(_ *Meter, row *Row, _ *Interpretation) (map[string]float64, error) {
			for _, r := range assist.StandardRoutines() {
				if r.Name() == row.Name {
					return map[string]float64{"registers": float64(r.Registers()), "instructions": float64(r.Length())}, nil
				}
			}
			return nil, fmt.Errorf("there is no routine %s", row.Name)
		},
	}
}

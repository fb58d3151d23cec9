package cli

// This file is about machines of "gemu machine" that refuse a launch: the report has the values of the other machines, and the reason.

import (
	"fmt"
	"slices"
)

// machineRefusalJSON says why a machine has no values of a part.
type machineRefusalJSON struct {
	Part   string `json:"part"`   // name of the part in --show
	Reason string `json:"reason"` // error of the machine
}

// refuse notes that a machine has no values of a part because of an error. The first error counts.
func (r *machineReport) refuse(machine int, part string, err error) {
	m := &r.Machines[machine]
	if m.refusal(part) == "" {
		m.Refused = append(m.Refused, machineRefusalJSON{part, err.Error()})
	}
}

// refusal returns why the machine has no values of a part; "" if it has values.
func (m *machineResultJSON) refusal(part string) string {
	if i := slices.IndexFunc(m.Refused, func(x machineRefusalJSON) bool { return x.Part == part }); i >= 0 {
		return m.Refused[i].Reason
	}
	return ""
}

// addEach calls add for each machine that has values of a part. err returns the error of a machine. If no machine has values, addEach returns the
// error of the first.
func (r *machineReport) addEach(part string, machines int, err func(machine int) error, add func(machine int)) error {
	var first error
	added := false
	for i := range machines {
		if e := err(i); e != nil {
			if r.refuse(i, part, e); first == nil {
				first = fmt.Errorf("machine %s: %w", r.Machines[i].Name, e)
			}
		}
		if r.Machines[i].refusal(part) == "" {
			add(i)
			added = true
		}
	}
	if added {
		return nil
	}
	return first
}

// refusals returns an error if machines have refused a launch, with the reason of each machine.
func (r *machineReport) refusals() error {
	var errs []error
	for i := range r.Machines {
		if m := &r.Machines[i]; len(m.Refused) > 0 {
			errs = append(errs, &failure{fmt.Errorf("machine %s has refused a launch: %s", m.Name, m.Refused[0].Reason), exitBad})
		}
	}
	return all(errs...)
}

// printRefusal prints the reason of a refusal in place of a row.
func (s *screen) printRefusal(name string, width int, reason string) {
	for _, line := range wrap("refused: "+reason, 100) {
		s.printf("%s  %s\n", fitted(name, width), line)
		name = "" // of further lines
	}
}

// addRefusal adds the row of a machine without values to the table of a block, and the reason to its notes. It reports whether the machine has
// none.
func (b *pageBlock) addRefusal(m *machineResultJSON, part string) bool {
	reason := m.refusal(part)
	if reason == "" {
		return false
	}
	row := slices.Repeat([]string{"-"}, len(b.Table.Head))
	row[0], row[1] = m.Name, "refused"
	b.Table.Rows = append(b.Table.Rows, row)
	b.Notes = append(b.Notes, m.Name+" has refused a launch: "+reason)
	return true
}

// refusedAll notes the errors of machines without a clock, which then have no values of any part. It returns the error of the first machine, whose lines
// and buffers the report has.
func (r *machineReport) refusedAll(in *machineRun) error {
	for i, m := range in.machines {
		err := m.Err()
		switch {
		case err == nil:
		case i == 0:
			return &failure{err, exitBad}
		default:
			for _, part := range in.flags.Show {
				r.refuse(i, part, err)
			}
		}
	}
	return nil
}

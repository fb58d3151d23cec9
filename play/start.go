package play

import "gemu/interp"

// Start is the start of the page, the contents of its element gemu-start: a program, a lesson or recordings.
type Start struct {
	Engine     string      `json:"engine"`               // "http", "wasm" or "none"
	Request    *Request    `json:"request,omitempty"`    // run this
	Policies   []string    `json:"policies,omitempty"`   // under these reconvergence policies, a strip for each
	Example    string      `json:"example,omitempty"`    // open the example with this ID
	Recordings []Recording `json:"recordings,omitempty"` // show these
	Known      []Policy    `json:"knownPolicies"`        // Policies(), which the page offers and describes
}

// Policy is a reconvergence policy that the engine has.
type Policy struct {
	Name string `json:"name"` // as in --reconverge
	Doc  string `json:"doc"`  // in one line
}

// Policies returns the reconvergence policies that a page offers: all of gemu's, and its also with short time slices.
func Policies() (list []Policy) {
	for _, r := range interp.Reconvergers() {
		list = append(list, Policy{r.Name(), r.Doc()})
		if r.Name() != "its" {
			continue
		}
		for _, n := range []int{1, 8} {
			if short, err := r.WithTimeSlice(n); err == nil {
				list = append(list, Policy{short.Name(), short.Doc()})
			}
		}
	}
	return list
}

// Recording is a recording inside the page.
type Recording struct {
	Name   string `json:"name"`   // name for the reader
	Base64 []byte `json:"base64"` // the recording; JSON has it in base64
}

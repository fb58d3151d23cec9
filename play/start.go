package play

// Start is the start of the page, the contents of its element gemu-start: a program, a lesson or recordings.
type Start struct {
	Engine     string      `json:"engine"`               // "http", "wasm" or "none"
	Request    *Request    `json:"request,omitempty"`    // run this
	Policies   []string    `json:"policies,omitempty"`   // under these reconvergence policies, a strip for each
	Example    string      `json:"example,omitempty"`    // open the example with this ID
	Recordings []Recording `json:"recordings,omitempty"` // show these
}

// Recording is a recording inside the page.
type Recording struct {
	Name   string `json:"name"`   // name for the reader
	Base64 []byte `json:"base64"` // the recording; JSON has it in base64
}

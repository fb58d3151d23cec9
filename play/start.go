package play

// Start is what the page shows first: the contents of its element gemu-start.
type Start struct {
	Engine     string      `json:"engine"`               // "http", "wasm" or "none"
	Request    *Request    `json:"request,omitempty"`    // run this
	Policies   []string    `json:"policies,omitempty"`   // under these reconvergence policies, a strip for each
	Example    string      `json:"example,omitempty"`    // open the example with this ID
	Recordings []Recording `json:"recordings,omitempty"` // show these
	View       string      `json:"view,omitempty"`       // the view to begin with
}

// Recording is a recording inside the page.
type Recording struct {
	Name   string `json:"name"`   // name for the reader
	Base64 []byte `json:"base64"` // the recording; JSON has it in base64
}

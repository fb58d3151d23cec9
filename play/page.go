//go:build !js

package play

import (
	"embed"
	"io/fs"
	"slices"
)

//go:embed page
var pageFiles embed.FS

// Page returns the files of the page, which the sources in web build: index.html and the files next to it.
func Page() fs.FS {
	f, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // the name of the directory is valid
	}
	return f
}

//go:embed report/report.html
var report []byte

// Report returns the page of reports, of gemu structure and gemu profile, which the sources in web build: one file, whose empty
// element gemu-report is for the data.
func Report() []byte { return slices.Clone(report) }

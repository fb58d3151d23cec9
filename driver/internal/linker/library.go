package linker

// This file holds gemu's PTX for NVIDIA's libraries, and lists the members of archives.

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// gemu's PTX for libcudadevrt.a: the functions for cooperative groups, and for conditional nodes of graphs.
var (
	//go:embed devrt.ptx
	DeviceGroups []byte
	//go:embed devrt_graph.ptx
	DeviceGraphs []byte
)

// Members lists the names of the members of an ar archive. Long names are in a table, the member "//".
func Members(archive []byte) ([]string, error) {
	const magic, header = "!<arch>\n", 60
	if !bytes.HasPrefix(archive, []byte(magic)) {
		return nil, fmt.Errorf("not an archive")
	}
	var names []string
	var long string
	for rest := archive[len(magic):]; len(rest) > 0; {
		if len(rest) < header {
			return nil, fmt.Errorf("a broken archive")
		}
		name := strings.TrimRight(string(rest[:16]), " ")
		size, err := strconv.ParseUint(strings.TrimSpace(string(rest[48:58])), 10, 63)
		if err != nil || size > uint64(len(rest)-header) {
			return nil, fmt.Errorf("a broken archive: size of member %s", name)
		}
		data := rest[header:][:size]
		rest = rest[min(header+size+size%2, uint64(len(rest))):] // members begin at even offsets
		switch offset, err := strconv.Atoi(strings.TrimPrefix(name, "/")); {
		case name == "//":
			long = string(data)
			continue
		case name == "/" || name == "/SYM64/":
			continue // symbol index
		case strings.HasPrefix(name, "/") && err == nil && offset < len(long):
			name, _, _ = strings.Cut(long[offset:], "\n")
		}
		names = append(names, strings.TrimSuffix(name, "/"))
	}
	return names, nil
}

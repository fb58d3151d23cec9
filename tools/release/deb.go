package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os/exec"
	"time"

	"gemu/internal/cleanup"
	"gemu/internal/version"
)

// control is the description of the package of Debian: version, processor, the installed size in KiB, the oldest glibc.
// The owner of gemu has named no maintainer yet: the field must have an address, and this one is marked as none.
const control = `Package: gemu
Version: %s
Architecture: %s
Maintainer: gemu <no-address@example.invalid>
Installed-Size: %d
Depends: libc6 (>= %s)
Section: devel
Priority: optional
Description: runs NVIDIA PTX kernels on any CPU
 gemu runs NVIDIA PTX warp by warp, as a SIMT machine, without a GPU: memory
 is exact, every access is checked, and sanitizers find races. The package has
 the command, the page of gemu play, the C library libgemu, and stand-ins for
 NVIDIA's libraries, which programs use only if their environment names
 /usr/lib/gemu.
`

// triggers makes the loader find libgemu.so.
const triggers = "activate-noawait ldconfig\n"

// unlicensed begins the file of licenses of a package. It is the place for the license of gemu.
const unlicensed = "The owner of gemu has chosen no license for gemu itself yet. The licenses of its parts follow.\n\n"

// writeDeb writes the package of Debian for a processor with dpkg-deb.
func writeDeb(ctx context.Context, name string, files tree, processor string, date time.Time) error {
	program, err := exec.LookPath("dpkg-deb")
	if err != nil {
		return fmt.Errorf("%w: it makes packages of Debian (apt-get install dpkg, brew install dpkg); without a deb: -kinds archive,wheel,image", err)
	}
	dir, remove, err := cleanup.Dir("", "gemu-deb-*")
	if err != nil {
		return err
	}
	defer remove()
	installed := tree{}
	size := 0
	for below, f := range files {
		switch below {
		case "share/man/man1/gemu.1":
			below += ".gz"
			if f.data, err = compressed(f.data); err != nil {
				return err
			}
		case "share/doc/gemu/licenses.txt":
			below, f.data = "share/doc/gemu/copyright", append([]byte(unlicensed), f.data...)
		}
		installed["usr/"+below] = f
		size += len(f.data)
	}
	installed["DEBIAN/control"] = file{data: fmt.Appendf(nil, control, version.Number(), processor, (size+1023)/1024, glibc)}
	installed["DEBIAN/triggers"] = file{data: []byte(triggers)}
	if err := installed.write(dir); err != nil {
		return err
	}
	// dpkg-deb gives no file a later date than SOURCE_DATE_EPOCH.
	_, err = output(ctx, "", []string{fmt.Sprint("SOURCE_DATE_EPOCH=", date.Unix())}, program, "--root-owner-group", "-Zxz", "--threads-max=1", "--build", dir, name)
	return err
}

// compressed compresses a file with gzip.
func compressed(data []byte) ([]byte, error) {
	var to bytes.Buffer
	z, err := gzip.NewWriterLevel(&to, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return to.Bytes(), err
}

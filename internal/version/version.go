// Package version describes the build of gemu: its version, and the commit that it was built from.
package version

import (
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

//go:embed version.txt
var number string

// Number returns the version of gemu, such as 0.1.0. The file version.txt states it for the command, the libraries and the
// packages.
func Number() string { return strings.TrimSpace(number) }

// Text returns a line with the version, the commit and its date, the version of Go, and the host.
func Text() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "gemu " + Number()
	}
	return describe(info)
}

// describe returns the line of a build. Go records the commit when it builds in a clone of gemu. In a command of a foreign
// module, gemu is a dependency of this module, and Go records the commit of that module, which is no commit of gemu.
func describe(info *debug.BuildInfo) string {
	s := "gemu " + Number()
	settings := map[string]string{}
	if info.Main.Path == "gemu" {
		for _, setting := range info.Settings {
			settings[setting.Key] = setting.Value
		}
	}
	for _, m := range info.Deps {
		if m.Path == "gemu" {
			s += ", module " + m.Version
		}
	}
	if revision := settings["vcs.revision"]; revision != "" {
		s += ", commit " + revision
		if date, _, ok := strings.Cut(settings["vcs.time"], "T"); ok {
			s += " of " + date
		}
		if settings["vcs.modified"] == "true" {
			s += " with changes"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", s, info.GoVersion, runtime.GOOS, runtime.GOARCH)
}

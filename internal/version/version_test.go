package version

import (
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// A version names the commit of gemu, and no commit of another module.
func TestDescribe(t *testing.T) {
	number, host := Number(), ", go1.2 "+runtime.GOOS+"/"+runtime.GOARCH
	settings := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.time", Value: "2026-11-30T08:00:00Z"}, {Key: "vcs.modified", Value: modified}}
	}
	gemu := debug.Module{Path: "gemu", Version: "(devel)"}
	for want, info := range map[string]*debug.BuildInfo{
		", commit 0123abcd of 2026-11-30":              {GoVersion: "go1.2", Main: gemu, Settings: settings("false")},
		", commit 0123abcd of 2026-11-30 with changes": {GoVersion: "go1.2", Main: gemu, Settings: settings("true")},
		"":                {GoVersion: "go1.2", Main: gemu},
		", module v1.2.3": {GoVersion: "go1.2", Main: debug.Module{Path: "other"}, Deps: []*debug.Module{{Path: "gemu", Version: "v1.2.3"}}, Settings: settings("false")},
	} {
		if got := describe(info); got != "gemu "+number+want+host {
			t.Errorf("%q, want %q", got, "gemu "+number+want+host)
		}
	}
}

// The list of changes begins with this version, or with changes that no version has yet.
func TestChangelog(t *testing.T) {
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(Number()) {
		t.Errorf("version.txt has %q", Number())
	}
	b, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`(?m)^## (.*)$`).FindStringSubmatch(string(b))
	if first == nil || first[1] != "Unreleased" && !strings.HasPrefix(first[1], Number()+" ") {
		t.Errorf("CHANGELOG.md begins with %q, want Unreleased, or %s and a date", first, Number())
	}
}

// The Python package has this version.
func TestPython(t *testing.T) {
	b, err := os.ReadFile("../../python/pyproject.toml")
	if want := "\nversion = \"" + Number() + "\"\n"; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("python/pyproject.toml lacks %q: %v", want, err)
	}
}

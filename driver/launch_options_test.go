package driver

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every variable of launchVariables exists, and documents and header name every option.
func TestLaunchOptionNames(t *testing.T) {
	for _, name := range launchVariables {
		if !slices.ContainsFunc(Variables, func(v Variable) bool { return v.Name == name }) {
			t.Errorf("no variable %s", name)
		}
	}
	for file, place := range map[string]string{"../docs/libraries.md": "`%s`", "../cmd/libgemu/gemu.h": "//  .*\\b%s\\b.*:"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(optionNames(), ", ") {
			if !regexp.MustCompile(fmt.Sprintf(place, name)).Match(text) {
				t.Errorf("%s does not name the option %s", file, name)
			}
		}
	}
}

// A launch does not mix value policies in the file of GEMU_STATS, and warps of another width do not reach models.
func TestLaunchOptionsAndProcess(t *testing.T) {
	c := newClient(t, nil)
	for _, options := range []string{"policy=kim", "policy=gemu mode=affine", "warp=16", "workers=2"} {
		if _, err := c.d.ParseLaunchOptions(options); err != nil {
			t.Errorf("%s: %v", options, err)
		}
	}
	c.d.settings.Stats = "file"
	if _, err := c.d.ParseLaunchOptions("policy=gemu"); err != nil { // the policy of the file
		t.Error(err)
	}
	_, err := c.d.ParseLaunchOptions("policy=kim")
	c.want(InvalidValue, "GEMU_POLICY", err)
	c.d.settings.Stats, c.d.settings.Accelsim = "", "directory"
	_, err = c.d.ParseLaunchOptions("warp=16")
	c.want(InvalidValue, "GEMU_ACCELSIM", err)
	c.d.settings.Accelsim = ""
}

package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccelsimTracesOfProcess: each process has its own directory with traces of its launches and copies. A launch that
// traps is omitted and reported; a process without launches leaves no directory.
func TestAccelsimTracesOfProcess(t *testing.T) {
	root := t.TempDir()
	for i, setting := range []string{root, packedTraces + root} {
		c := &client{T: t}
		var closed error
		func() {
			s := DefaultSettings()
			s.Stderr, s.Memory, s.SM, s.Accelsim = &lockedBuffer{}, 64<<20, 80, setting
			d := New(s)
			c.ok(d.Init(0))
			c.Thread = d.NewThread()
			c.ctx = must(c.CtxCreate(0, 0))(t)
			c.mod = c.load(kernels)
			at := c.alloc(256)
			c.write(at, 1, 2, 3)
			c.ok(c.launch("add", 1, 3, at, 10))
			c.ok(c.launch("add", 1, 3, at, 10))
			c.expect(at, 21, 22, 23)
			if i == 1 {
				c.ok(c.launch("poke", 1, 1, 16, 1))
				if c.CtxSynchronize(0) == nil {
					t.Error("no trap")
				}
			}
			closed = d.Close()
		}()
		if i == 0 && closed != nil || i == 1 && (closed == nil || !strings.Contains(closed.Error(), "GEMU_ACCELSIM="+setting+": kernel 3, poke, has no trace")) {
			t.Errorf("%s: %v", setting, closed)
		}
		dirs, err := os.ReadDir(root)
		if err != nil || len(dirs) != i+1 {
			t.Fatalf("%s: %v %v", setting, dirs, err)
		}
		dir := filepath.Join(root, dirs[i].Name())
		list, err := os.ReadFile(filepath.Join(dir, "kernelslist.g"))
		if err != nil {
			t.Fatal(err)
		}
		suffix := []string{"traceg", "tracez"}[i]
		lines := strings.Split(strings.TrimSpace(string(list)), "\n")
		if n := len(lines); n < 3 || lines[n-3] == "" || !strings.HasPrefix(lines[n-3], "MemcpyHtoD,0x") || !strings.HasSuffix(lines[n-3], ",12") || lines[n-2] != "kernel-1."+suffix || lines[n-1] != "kernel-2."+suffix {
			t.Errorf("%s:\n%s", setting, list)
		}
		for _, name := range lines[len(lines)-2:] {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), "-kernel name = add\n") || !strings.Contains(string(b), "-block dim = (3,1,1)\n") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	s := DefaultSettings()
	s.Accelsim = root
	if err := New(s).Close(); err != nil {
		t.Error(err)
	}
	if dirs, err := os.ReadDir(root); err != nil || len(dirs) != 2 {
		t.Errorf("without launches: %v %v", dirs, err)
	}
	s.SM = 52
	if err := New(s).Close(); err == nil || !strings.Contains(err.Error(), "7.0 or higher; GEMU_SM is 5.2") {
		t.Errorf("Maxwell: %v", err)
	}
}

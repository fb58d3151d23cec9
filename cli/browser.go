package cli

// This file opens the browser of the user.

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

// openBrowser opens an address in the browser of the user. It does not wait for the browser.
func openBrowser(url string) error {
	command, err := browserCommand(runtime.GOOS, os.Getenv)
	if err != nil {
		return err
	}
	c := exec.Command(command[0], append(command[1:], url)...)
	if err := c.Start(); err != nil {
		return err
	}
	go c.Wait()
	return nil
}

// browserCommand returns the command that opens an address on an operating system.
func browserCommand(system string, env func(string) string) ([]string, error) {
	switch {
	case env("BROWSER") != "":
		return []string{env("BROWSER")}, nil
	case system == "darwin":
		return []string{"open"}, nil
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}, nil
	case env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "":
		return nil, errors.New("there is no graphical desktop")
	}
	return []string{"xdg-open"}, nil
}

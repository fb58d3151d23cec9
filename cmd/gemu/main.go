// Command gemu runs NVIDIA PTX kernels on any CPU. Package cli is the command; it takes extensions from other modules.
package main

import "gemu/cli"

func main() { cli.Main(cli.Extensions{}) }

// Package code is lowered code: what the machine runs, as data. Everything that does
// not depend on lane values is resolved: rows of registers, constants, addresses of
// variables, branch targets, post-dominators.
package code

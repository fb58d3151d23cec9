// Package process holds the single driver of a C process, for the shared libraries. It makes the driver at the first call
// of the library, from the environment variables as they were when the library was loaded. It also keeps a driver.Thread
// for each C thread, and ends the driver when the process ends.
package process

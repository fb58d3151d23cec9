// Package process holds the only driver of a C process, for the shared libraries. It makes the driver at the first
// call, with the environment from the time when the library was loaded. It also keeps a driver.Thread for each C
// thread, and ends the driver with the process.
package process

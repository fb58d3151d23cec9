// Package wholefile writes files completely or not at all. A file is written under a temporary name in the same
// directory, and renamed when the system has accepted all of it. After a failed write, the previous file is unchanged.
// The package does not wait for the disk: after a crash of the system a new file may be empty.
//
// A replaced file keeps its permissions; a new file has the umask's. It belongs to the user of the process, and
// further hard links to the old file keep the old contents. A file that the user may not write is not replaced. For a
// symbolic link, its target is replaced. Pipes, devices and other irregular files are written directly, and so is a
// file in a directory in which no file can be made. Names of open files of the process (/dev/stdout, /dev/fd/3) stand
// for these files: output is appended to earlier output of the process.
package wholefile

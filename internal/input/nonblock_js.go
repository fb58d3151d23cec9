package input

// nonBlocking is zero: a browser has no files, and Node's files are opened by its own functions.
const nonBlocking = 0

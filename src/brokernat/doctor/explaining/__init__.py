"""From a client's log line, or a code, to what it means: the table of lines is data, one module a family of clients."""

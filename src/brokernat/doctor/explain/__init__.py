"""From a client's log line, or a code, to what it means: the kinds of lines are data in `lines/`, one file a client."""

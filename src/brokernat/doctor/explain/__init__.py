"""Explains a client's log line or a code. The kinds of lines are data in `lines/`, one file for each client."""

"""kafka-python reads its schemas by functions that Python deprecates; it is imported once, here, where that is let
pass."""

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    import kafka.admin  # noqa: F401

"""The status of a run: `model.py` is the data, the other modules publish it."""

"""What others can see of a run: `model.py` is all that is known, the other modules show it."""
